import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, systemClock } from '@agentproto/contracts'
import { createRedactor } from '@agentproto/secrets'
import { expect, onTestFinished, test } from 'vitest'
import { GatewayLog, type GatewayLogOptions } from '../src/telemetry/gateway-log.js'
import { temporaryFolder } from './fixtures/temporary-folder.js'

interface Opened {
  readonly log: GatewayLog
  readonly folder: string
  /** The lines of the current file, once it is closed. */
  readonly lines: () => Promise<readonly Record<string, unknown>[]>
  readonly pass: (ms: number) => void
}

async function openLog(options: Partial<GatewayLogOptions> = {}): Promise<Opened> {
  const folder = join(await temporaryFolder(), 'logs')
  const path = join(folder, 'gateway.jsonl')
  let now = Date.parse('2026-11-22T00:00:00.000Z')
  const clock: Clock = { now: () => now, after: systemClock.after }
  const redactor = createRedactor()
  redactor.add('s3cret')
  const log = new GatewayLog({ path, clock, redact: (fields) => redactor.redactData(fields), ...options })
  onTestFinished(() => log.close())
  const lines = async (): Promise<readonly Record<string, unknown>[]> => {
    await log.close()
    return (await readFile(path, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  }
  return { log, folder, lines, pass: (ms) => void (now += ms) }
}

test('a line is one JSON object, without secrets, readable by the owner only', async () => {
  const { log, lines, folder } = await openLog()
  log.write('info', 'said', { text: 'with s3cret', long: 'x'.repeat(20_000) })
  const [line] = await lines()
  expect(line).toMatchObject({ ts: '2026-11-22T00:00:00.000Z', level: 'info', msg: 'said', text: 'with [redacted]' })
  expect(String(line?.['long'])).toHaveLength(8_192)
  expect((await stat(join(folder, 'gateway.jsonl'))).mode & 0o777).toBe(0o600)
  expect((await stat(folder)).mode & 0o777).toBe(0o700)
})

test('12.A3 a secret that is cut is redacted before, and nested ones are', async () => {
  const { log, lines } = await openLog()
  log.write('info', 'said', { text: `${'x'.repeat(8_190)}s3cret`, in: [{ it: 's3cret' }] })
  const text = JSON.stringify(await lines())
  expect(text).not.toContain('s3')
  expect(text).toContain('{"it":"[redacted]"}')
})

test('a line is in the file soon after it is written, without a close: a kill -9 loses no more than a moment', async () => {
  const { log, folder } = await openLog()
  log.write('warn', 'last words')
  await expect.poll(() => readFile(join(folder, 'gateway.jsonl'), 'utf8').catch(() => '')).toContain('last words')
})

test('messages below the level are not written; off writes nothing, not even a file', async () => {
  const { log, lines } = await openLog({ level: 'warn' })
  log.write('debug', 'a')
  log.write('info', 'b')
  log.write('warn', 'c')
  log.write('error', 'd')
  expect((await lines()).map(({ msg }) => msg)).toEqual(['c', 'd'])
  const silent = await openLog({ level: 'off' })
  silent.log.write('error', 'e')
  await silent.log.close()
  await expect(readdir(silent.folder)).rejects.toThrow('ENOENT')
})

test('F75 a message that floods is cut off and counted, and others are not', async () => {
  const { log, lines, pass } = await openLog()
  for (let at = 0; at < 1_000; at++) log.write('warn', 'peer is away', { at })
  log.write('warn', 'something else')
  pass(60_000)
  log.write('warn', 'peer is away', { at: 'last' })
  const written = await lines()
  expect(written.slice(0, -2).map(({ msg }) => msg)).toEqual([
    ...Array.from({ length: 20 }, () => 'peer is away'),
    'something else',
  ])
  expect(written.slice(-2)).toMatchObject([{ msg: 'peer is away', repeated: 980 }, { at: 'last' }])
})

test('a full file is rotated, and only so many are kept', async () => {
  const { log, folder, pass } = await openLog({ maxBytes: 1_024, files: 3 })
  for (let at = 0; at < 60; at++) {
    log.write('info', `line ${at}`, { filling: 'x'.repeat(60) })
    pass(1)
  }
  await log.close()
  expect((await readdir(folder)).toSorted()).toEqual(['gateway.jsonl', 'gateway.jsonl.1', 'gateway.jsonl.2'])
  const files = await Promise.all(['.2', '.1', ''].map((end) => readFile(join(folder, `gateway.jsonl${end}`), 'utf8')))
  // A file is full with the line that reaches the limit.
  expect(files.every((text) => text.length < 1_024 + 200)).toBe(true)
  const kept = files
    .join('')
    .trim()
    .split('\n')
    .map((line) => Number(/line (\d+)/.exec(line)?.[1]))
  expect(kept).toEqual(kept.map((_, index) => 60 - kept.length + index))
})

test('a log that cannot be written stops nothing, and is written again once it can be', async () => {
  const { log } = await openLog({ path: '/dev/null/not-a-folder/gateway.jsonl' })
  expect(() => log.write('error', 'lost')).not.toThrow()
  await log.close()
  expect(() => log.write('error', 'after the end')).not.toThrow()
})
