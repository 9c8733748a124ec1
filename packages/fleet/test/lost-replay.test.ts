import { type AgentprotoError, isAgentprotoError, type OutputItem } from '@agentproto/contracts'
import type { OutputReader } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.ts'
import { type Script, scripted } from '../../session-registry/test/fixtures/scripted-agent.ts'
import { constantFolder, owner as OWNER } from '../../session-registry/test/fixtures/test-registry.ts'
import type { FleetServices } from '../src/services/fleet-services-options.ts'
import { startGateway, type TestGateway } from './support/fleet-gateways.ts'
import { startNats } from './support/nats-servers.ts'

const patient = { timeout: 20_000 }
const ASK = {
  kind: 'permission',
  toolCall: { type: 'tool-call', toolCallId: 'call', title: 'Edit a.txt', kind: 'edit' },
  options: [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }],
} as const

/** `long`: many lines. `ask`: a request. `open`: text without an end of its line, and no end of the turn. */
const script: Script = async ({ text, emit, ask, cancelled }) => {
  if (text === 'long') for (let at = 0; at < 30; at += 1) await emit({ type: 'text-delta', text: `line ${at}\nand ` })
  await emit(
    { type: 'thought', text: 'let me see' },
    { type: 'tool-call', toolCallId: 'call', title: 'Edit a.txt', status: 'in_progress' },
    { type: 'tool-result', toolCallId: 'call', status: 'failed' },
    { type: 'plan', entries: [{ content: 'do it', priority: 'high', status: 'pending' }] },
    { type: 'text-delta', text: `echo: ${text}\nno end` },
  )
  if (text === 'ask') await ask(ASK)
  if (text === 'open') return cancelled
  await emit({ type: 'turn-end', reason: 'end_turn' })
}

interface Lost {
  readonly a: TestGateway
  readonly b: TestGateway
  readonly id: string
  /** Host a is gone, and host b knows it. */
  readonly lose: () => Promise<void>
}

/** A session of host a with two turns and a request that was answered; the turn of `last` runs. */
async function runningAtA(last: Last): Promise<Lost> {
  const server = await startNats()
  const workspaces = constantFolder('/tmp', 'work')
  const a = await startGateway(server, 'a', { ...scripted(script), workspaces })
  const b = await startGateway(server, 'b', { ...scripted(script), workspaces })
  const { sessions } = a.services
  const { id } = await sessions.spawn({ adapter: 'fake', label: 'one' }, OWNER)
  await sessions.prompt(id, { prompt: 'long' }, OWNER)
  await sessions.waitTurn(id, 1)
  await sessions.prompt(id, { prompt: 'ask' }, OWNER)
  const requestId = await pending(a, id)
  await sessions.answer({ id, requestId }, { outcome: 'selected', optionId: 'yes' }, OWNER)
  await sessions.waitTurn(id, 2)
  await sessions.prompt(id, { prompt: last }, OWNER)
  if (last === 'ask') await pending(a, id)
  await expect.poll(async () => texts(await sessions.output(id)).at(-1), patient).toMatch(/no end|Edit a.txt/)
  const lose = async (): Promise<void> => {
    const { lastSeq } = await a.registry.get(id)
    await expect
      .poll(
        async () => (await b.log.lastSeq(id)) === lastSeq && b.view.session(id)?.session.lastSeq === lastSeq,
        patient,
      )
      .toBe(true)
    await a.crash()
    await expect.poll(() => b.view.isReachable('a'), patient).toBe(false)
  }
  return { a, b, id, lose }
}

async function pending({ services }: TestGateway, id: string): Promise<string> {
  const found = async (): Promise<string | undefined> =>
    (await services.sessions.requests(id)).find(({ state }) => state === 'pending')?.requestId
  await expect.poll(found, patient).toBeDefined()
  return (await found()) ?? ''
}

const texts = (lines: readonly { readonly line: string }[]): readonly string[] => lines.map(({ line }) => line)

/** The last line of each session that {@link runningAtA} makes, and how often it has it. */
const LAST = { ask: ['[awaiting input] Edit a.txt', 2], open: ['no end', 3] } as const
type Last = keyof typeof LAST

/** The items that are there; a reader of a session that runs then waits. */
async function itemsOf(reader: OutputReader, last: Last): Promise<readonly OutputItem[]> {
  const [line, times] = LAST[last]
  const items: OutputItem[] = []
  const count = (): number => items.filter((item) => item.type === 'line' && item.line.line === line).length
  for (let batch = await reader.next(); batch !== undefined; batch = await reader.next()) {
    items.push(...batch)
    if (count() === times) break
  }
  reader.close()
  return items
}

async function read(pieces: AsyncIterable<string>): Promise<string> {
  const all: string[] = []
  for await (const piece of pieces) all.push(piece)
  return all.join('').replace(/"exportedAt":"[^"]*"|\| Exported \| [^|]*/, '')
}

type Reads = (services: FleetServices, id: string, last: Last) => Promise<unknown>
const READS: Readonly<Record<string, Reads>> = {
  output: ({ sessions }, id) => sessions.output(id),
  'output of 1': ({ sessions }, id) => sessions.output(id, 1),
  'output of all': ({ sessions }, id) => sessions.output(id, 2_000),
  turns: ({ sessions }, id) => sessions.turns(id),
  'turns after 1': ({ sessions }, id) => sessions.turns(id, { after: 1, limit: 1 }),
  'turns after the last': ({ sessions }, id) => sessions.turns(id, { after: 3 }),
  'turn 1': ({ sessions }, id) => sessions.turn(id, 1),
  'turn 2': ({ sessions }, id) => sessions.turn(id, 2),
  'the turn that runs': ({ sessions }, id) => sessions.turn(id, 3),
  'no turn': ({ sessions }, id) => sessions.turn(id, 0),
  'waitTurn of 1': ({ sessions }, id) => sessions.waitTurn(id, 1),
  'waitTurn of 2': ({ sessions }, id) => sessions.waitTurn(id, 2),
  'waitTurn of none': ({ sessions }, id) => sessions.waitTurn(id, 0),
  requests: ({ sessions }, id) => sessions.requests(id),
  events: ({ sessions }, id) => sessions.events(id, 0, 10_000),
  followOutput: async ({ sessions }, id, last) => itemsOf(await sessions.followOutput(id), last),
  'followOutput of a wrong cursor': ({ sessions }, id) => sessions.followOutput(id, '?'),
  'export as events': async ({ archive }, id) => read(await archive.export(id, 'jsonl')),
  'export as JSON': async ({ archive }, id) => read(await archive.export(id, 'json')),
  'export as text': async ({ archive }, id) => read(await archive.export(id, 'md')),
  'export as a transcript': async ({ archive }, id) => read(await archive.export(id, 'transcript')),
}

async function readAll({ services }: TestGateway, id: string, last: Last): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>()
  for (const [name, call] of Object.entries(READS)) answers.set(name, await outcome(() => call(services, id, last)))
  return answers
}

async function outcome(call: () => Promise<unknown>): Promise<string> {
  try {
    return JSON.stringify(await call())
  } catch (thrown) {
    if (isAgentprotoError(thrown)) return JSON.stringify({ problem: thrown.toProblem(), message: thrown.message })
    throw thrown
  }
}

test.each(['ask', 'open'] as const)(
  '17.4 what a session of a host that is gone has said is read at another host with the same bytes (%s)',
  needs('nats-server'),
  async (last) => {
    const { a, b, id, lose } = await runningAtA(last)
    const before = await readAll(a, id, last)
    await lose()
    expect(await b.services.sessions.get(id)).toMatchObject({ state: 'unreachable' })
    const after = await readAll(b, id, last)
    for (const [name, answer] of before) expect.soft([name, after.get(name)]).toEqual([name, answer])
  },
)

test(
  '17.4 what only a host knows that is gone is host_unreachable, with the time to try again',
  needs('nats-server'),
  async () => {
    const { b, id, lose } = await runningAtA('open')
    await lose()
    const { sessions, changes, worktrees, archive, permissions } = b.services
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      'the end of a turn that ran': () => sessions.waitTurn(id, 3),
      'a turn that may be queued': () => sessions.turn(id, 4),
      prompt: () => sessions.prompt(id, { prompt: 'x' }, OWNER),
      interrupt: () => sessions.interrupt(id, OWNER),
      kill: () => sessions.kill(id, OWNER),
      rename: () => sessions.rename(id, { title: 'x' }, OWNER),
      'rules of the session': () => permissions.rules({ sessionId: id }),
      changes: () => changes.list(id),
      diff: () => changes.diff(id),
      merge: () => worktrees.merge(id, {}, OWNER),
      repair: () => archive.repair(id, { dryRun: true }, OWNER),
    }
    for (const [name, call] of Object.entries(calls)) {
      const thrown = await call().catch((error: unknown) => error as AgentprotoError)
      expect([name, thrown]).toEqual([
        name,
        expect.objectContaining({
          code: 'host_unreachable',
          parts: expect.objectContaining({
            data: expect.objectContaining({ host: 'a', retryAfter: expect.any(Number) }),
          }),
        }),
      ])
    }
  },
)

test(
  '17.4 a reader of lines at another host goes on in the log where its host was lost, without a line twice',
  needs('nats-server'),
  async () => {
    const { a, b, id, lose } = await runningAtA('open')
    const whole = await itemsOf(await a.services.sessions.followOutput(id), 'open')
    const reader = await b.services.sessions.followOutput(id)
    const items: OutputItem[] = []
    const reading = (async () => {
      for (let batch = await reader.next(); batch !== undefined; batch = await reader.next()) items.push(...batch)
    })()
    await expect.poll(() => items.length, patient).toBeGreaterThanOrEqual(whole.length)
    await lose()
    // From any line on.
    for (const at of [0, 1, 29, whole.length - 2]) {
      const rest = await itemsAfter(b, id, { cursor: whole[at]?.cursor ?? '', count: whole.length - at - 1 })
      expect([at, rest]).toEqual([at, whole.slice(at + 1)])
    }
    expect(items).toEqual(whole)
    reader.close()
    await reading
  },
)

async function itemsAfter(
  { services }: TestGateway,
  id: string,
  { cursor, count }: { readonly cursor: string; readonly count: number },
): Promise<readonly OutputItem[]> {
  const reader = await services.sessions.followOutput(id, cursor)
  const items: OutputItem[] = []
  while (items.length < count) {
    const batch = await reader.next()
    if (batch === undefined) break
    items.push(...batch)
  }
  reader.close()
  return items
}
