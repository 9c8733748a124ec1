import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { page } from '../../../../tooling/markdown.ts'
import { ROOT } from '../../../../tooling/packages.ts'
import { AGENT_BOUNDS as BOUNDS } from '../src/agent-bounds.ts'

const count = (value: number): string => value.toLocaleString('en')
const characters = (value: number): string => `${count(value)} characters`
const seconds = (ms: number): string => `${ms / 1_000} s`
const kibibytes = (bytes: number): string => `${bytes / 1024} KiB`
const mebibytes = (bytes: number): string => `${bytes / 1024 / 1024} MiB`
const ofCharacters = (value: number): string => `${mebibytes(value)} of characters`

/** What is documented of each bound, by the row that has it. A bound that is not here does not compile. */
const WRITTEN: Readonly<Record<keyof typeof BOUNDS, readonly [row: string, limit: string]>> = {
  nameChars: ['name and version', characters(BOUNDS.nameChars)],
  authMethods: ['ways to log in', count(BOUNDS.authMethods)],
  sessionIdChars: ['id of a session', characters(BOUNDS.sessionIdChars)],
  callIdChars: ['id of a tool call', characters(BOUNDS.callIdChars)],
  earlyMessages: ['updates, and notices, before its session is open', count(BOUNDS.earlyMessages)],
  earlyChars: ['updates, and notices, before its session is open', ofCharacters(BOUNDS.earlyChars)],
  listPages: ['pages of its list of sessions', count(BOUNDS.listPages)],
  listedSessions: ['sessions of its list', count(BOUNDS.listedSessions)],
  closedSessions: ['closed sessions whose late updates are known', count(BOUNDS.closedSessions)],
  closedSessionsKept: ['closed sessions whose late updates are known', `gateway has ${BOUNDS.closedSessionsKept}`],
  openRequests: ['requests to the gateway that are handled at once', count(BOUNDS.openRequests)],
  shownChars: ['content that the request for a write shows', `${kibibytes(BOUNDS.shownChars)} of characters`],
  fileBytes: ['file that it reads or writes', mebibytes(BOUNDS.fileBytes)],
  terminals: ['terminals of a session', count(BOUNDS.terminals)],
  terminalBytes: ['output of a terminal', mebibytes(BOUNDS.terminalBytes)],
  terminalLineBytes: ['line of a terminal', mebibytes(BOUNDS.terminalLineBytes)],
  messageBytes: ['message over the network', mebibytes(BOUNDS.messageBytes)],
  unsentBytes: ['what it does not read, over the network', mebibytes(BOUNDS.unsentBytes)],
  beforePongBytes: ['what it does not read, over the network', `from ${kibibytes(BOUNDS.beforePongBytes)} on`],
  pingMs: ['silence over the network', seconds(BOUNDS.pingMs)],
  pongMs: ['silence over the network', `then ${seconds(BOUNDS.pongMs)}`],
  historyUpdates: ['history of a turn that is read again', `${count(BOUNDS.historyUpdates)} updates`],
  historyChars: ['history of a turn that is read again', ofCharacters(BOUNDS.historyChars)],
  historyPrompts: ['prompts of a history', count(BOUNDS.historyPrompts)],
  historyPromptChars: ['prompts of a history', ofCharacters(BOUNDS.historyPromptChars)],
  turnChars: ['turn that is compared with its history', ofCharacters(BOUNDS.turnChars)],
  turnCalls: ['turn that is compared with its history', `${count(BOUNDS.turnCalls)} calls`],
  turnRequests: ['turn that is compared with its history', `${count(BOUNDS.turnRequests)} requests`],
  turnEnds: ['ends of turns while a session is loaded again', count(BOUNDS.turnEnds)],
}

test('docs/security.md has each bound of an agent, and no other one', () => {
  const [, table = ''] = page(ROOT, 'docs/security.md').split('| of an agent | limit |')
  const rows = [...(table.split('\n\n')[0] ?? '').matchAll(/^\| ([^|]+) \| ([^|]+) \|/gm)]
  const limits = new Map(rows.map(([, what = '', limit = '']) => [what, limit]))
  for (const [bound, [row, limit]] of Object.entries(WRITTEN))
    expect([bound, limits.get(row)]).toEqual([bound, expect.stringContaining(limit)])
  expect([...limits.keys()]).toEqual([...new Set(Object.values(WRITTEN).map(([row]) => row))])
})

/** It bounds what is learned of an agent that behaves, and nothing that an agent sends. */
const OWN = ['message-lines.ts']

test('no bound is beside the table', () => {
  const source = join(ROOT, 'packages/arms/acp/src')
  const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.ts'))
  const beside = files.filter((path) => /^(?:export )?const MAX_/m.test(readFileSync(join(source, path), 'utf8')))
  expect(beside).toEqual(OWN)
})
