import { ACP_BOUNDS, ACP_METHODS } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { page } from '../markdown.ts'
import { ROOT } from '../packages.ts'

const section = (page(ROOT, 'docs/security.md').split('### ACP over the network')[1] ?? '').split('\n## ')[0] ?? ''
const rows = section
  .split('\n')
  .filter((line) => line.startsWith('| '))
  .map((line) => line.split('|').map((cell) => cell.trim()))

test('docs/security.md has the scope of each method of ACP', () => {
  const documented = rows.flatMap(([, scope = '', methods = '']) =>
    /^`(?:read|operate|admin)`$/.test(scope)
      ? [...methods.matchAll(/`([^`]+)`/g)].map(([, method]) => [method, scope.slice(1, -1)])
      : [],
  )
  expect(Object.fromEntries(documented)).toEqual(ACP_METHODS)
})

const number = (value: number): string => value.toLocaleString('en')
const seconds = (ms: number): string => `${ms / 1_000} s`
const kibibytes = (bytes: number): string => `${bytes / 1024} KiB`
const mebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`

test('docs/security.md has each bound of ACP', () => {
  const limits = rows.map(([, what = '', limit = '']) => `${what}: ${limit}`)
  const bounds = ACP_BOUNDS
  /** A bound that is not here does not compile. */
  const written: Readonly<Record<Exclude<keyof typeof ACP_BOUNDS, 'connections'>, string>> = {
    handshakeMs: seconds(bounds.handshakeMs),
    messageBytes: mebibytes(bounds.messageBytes),
    idChars: `${number(bounds.idChars)} characters`,
    openRequests: `not answered: ${number(bounds.openRequests)}`,
    sessionStreams: `their streams: ${number(bounds.sessionStreams)}`,
    pageChars: `${mebibytes(bounds.pageChars)} of characters`,
    turnCalls: `known to be shown: ${number(bounds.turnCalls)}`,
    keptChars: `one that is cut: ${kibibytes(bounds.keptChars)} of characters`,
    problems: `log of the gateway: ${number(bounds.problems)}`,
    outputBytes: `${mebibytes(bounds.outputBytes)};`,
    stallMs: `for ${seconds(bounds.stallMs)}`,
    pingMs: `every ${seconds(bounds.pingMs)}`,
    pongMs: `answered within ${seconds(bounds.pongMs)}`,
    idleMs: `${bounds.idleMs / 60_000} minutes`,
  }
  expect(Object.values(written).filter((text) => !limits.some((limit) => limit.includes(text)))).toEqual([])
  const { connections } = bounds
  expect(page(ROOT, 'docs/security.md')).toContain(
    `| connections of ACP | ${connections}, of one caller ${connections / 8}; the owner's ${(connections / 8) * 7} |`,
  )
})
