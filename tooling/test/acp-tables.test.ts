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
const mebibytes = (bytes: number): string => `${Math.floor(bytes / 1024 / 1024)} MiB`

test('docs/security.md has each bound of ACP', () => {
  const limits = rows.map(([, what = '', limit = '']) => `${what}: ${limit}`)
  const { connections, idleMs, ...bounds } = ACP_BOUNDS
  const written = [
    seconds(bounds.handshakeMs),
    mebibytes(bounds.messageBytes),
    `${number(bounds.idChars)} characters`,
    `not answered: ${number(bounds.openRequests)}`,
    `their streams: ${number(bounds.sessionStreams)}`,
    `${mebibytes(bounds.pageChars)} of characters`,
    `${mebibytes(bounds.outputBytes)}; for ${seconds(bounds.stallMs)}`,
    `every ${seconds(bounds.pingMs)}, answered within ${seconds(bounds.pongMs)}`,
    `${idleMs / 60_000} minutes`,
  ]
  expect(written.filter((text) => !limits.some((limit) => limit.includes(text)))).toEqual([])
  expect(Object.keys(bounds)).toHaveLength(10)
  expect(page(ROOT, 'docs/security.md')).toContain(
    `| connections of ACP | ${connections}, of one caller ${connections / 8}; the owner's ${(connections / 8) * 7} |`,
  )
})
