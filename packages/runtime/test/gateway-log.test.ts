import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '@agentproto/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { GatewayLog, type GatewayLogOptions } from '../src/telemetry/gateway-log.js'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

interface Opened {
  readonly log: GatewayLog
  readonly folder: string
  /** The lines of the file that is written. */
  readonly lines: () => Promise<readonly Record<string, unknown>[]>
  readonly pass: (ms: number) => void
}

async function openLog(options: Partial<GatewayLogOptions> = {}): Promise<Opened> {
  const folder = join(await temporaryHome(), 'logs')
  const path = join(folder, 'gateway.jsonl')
  let now = Date.parse('2026-11-22T00:00:00.000Z')
  const clock: Clock = { now: () => now, after: () => ({ cancel: () => undefined }) }
  const log = new GatewayLog({ path, clock, redact: (line) => line.replaceAll('s3cret', '[redacted]'), ...options })
  onTestFinished(() => log.close())
  const lines = async (): Promise<readonly Record<string, unknown>[]> =>
    (await readFile(path, 'utf8'))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>)
  return { log, folder, lines, pass: (ms) => void (now += ms) }
}

test('a line is one JSON object, written at once, without secrets, for the owner alone', async () => {
  const { log, lines, folder } = await openLog()
  log.write('info', 'said', { text: 'with s3cret', long: 'x'.repeat(20_000) })
  const [line] = await lines()
  expect(line).toMatchObject({ ts: '2026-11-22T00:00:00.000Z', level: 'info', msg: 'said', text: 'with [redacted]' })
  expect(String(line?.['long'])).toHaveLength(8_192)
  expect((await stat(join(folder, 'gateway.jsonl'))).mode & 0o777).toBe(0o600)
})

test('what is less than the level is not written; off writes nothing, not even a file', async () => {
  const { log, lines } = await openLog({ level: 'warn' })
  log.write('debug', 'a')
  log.write('info', 'b')
  log.write('warn', 'c')
  log.write('error', 'd')
  expect((await lines()).map(({ msg }) => msg)).toEqual(['c', 'd'])
  const silent = await openLog({ level: 'off' })
  silent.log.write('error', 'e')
  await expect(readdir(silent.folder)).rejects.toThrow('ENOENT')
})

test('F75 a message that floods is cut off and counted, and others are not', async () => {
  const { log, lines, pass } = await openLog()
  for (let at = 0; at < 1_000; at++) log.write('warn', 'peer is away', { at })
  log.write('warn', 'something else')
  expect((await lines()).map(({ msg }) => msg)).toEqual([
    ...Array.from({ length: 20 }, () => 'peer is away'),
    'something else',
  ])
  pass(60_000)
  log.write('warn', 'peer is away', { at: 'last' })
  expect((await lines()).slice(-2)).toMatchObject([{ msg: 'peer is away', repeated: 980 }, { at: 'last' }])
})

test('a full file goes aside, and of those there are only so many', async () => {
  const { log, folder, pass } = await openLog({ maxBytes: 1_024, files: 3 })
  for (let at = 0; at < 60; at++) {
    log.write('info', `line ${at}`, { filling: 'x'.repeat(60) })
    pass(1)
  }
  expect((await readdir(folder)).toSorted()).toEqual(['gateway.jsonl', 'gateway.jsonl.1', 'gateway.jsonl.2'])
  const files = await Promise.all(['.2', '.1', ''].map((end) => readFile(join(folder, `gateway.jsonl${end}`), 'utf8')))
  expect(files.every((text) => text.length <= 1_024)).toBe(true)
  const kept = files
    .join('')
    .trim()
    .split('\n')
    .map((line) => Number(/line (\d+)/.exec(line)?.[1]))
  expect(kept).toEqual(kept.map((_, index) => 60 - kept.length + index))
})

test('a log that cannot be written costs nobody anything', async () => {
  const { log } = await openLog({ path: '/dev/null/not-a-folder/gateway.jsonl' })
  expect(() => log.write('error', 'lost')).not.toThrow()
  log.close()
  expect(() => log.write('error', 'after the end')).not.toThrow()
})

test('a gateway logs its own life and that of its sessions; one in memory logs nothing', async () => {
  const home = await temporaryHome()
  const gateway = await testGateway({ home, log: { level: 'debug' } })
  const owner = { type: 'owner', name: 'owner' } as const
  await gateway.listen({ port: 0 })
  const { id } = await gateway.sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'hi' }, owner)
  await gateway.sessions.waitTurn(id, 1)
  await gateway.sessions.kill(id, owner)
  await gateway.close()
  const text = await readFile(join(home, 'logs', 'gateway.jsonl'), 'utf8')
  const lines = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(lines.map(({ msg, status }) => status ?? msg)).toEqual([
    'listening',
    'starting',
    'running',
    'turn ended',
    'killed',
    'session stopped',
    'closed',
  ])
  expect(lines.find(({ msg }) => msg === 'session stopped')).toMatchObject({
    sessionId: id,
    stopReason: 'user_canceled',
  })
  const memory = await testGateway({ home: await temporaryHome(), store: 'memory' })
  await memory.close()
  await expect(readdir(join(memory.home, 'logs'))).rejects.toThrow('ENOENT')
})

test('F75 a gateway that is flooded with trouble says so a few times and counts; the audit log keeps each attempt', async () => {
  const home = await temporaryHome()
  const problems: string[] = []
  const gateway = await testGateway({
    home,
    log: { maxBytes: 4_096, files: 2 },
    hooks: { beforePrompt: () => Promise.reject(new Error('x'.repeat(500))) },
    onProblem: (problem) => problems.push(problem),
  })
  const owner = { type: 'owner', name: 'owner' } as const
  const { id } = await gateway.sessions.spawn({ adapter: 'demo', cwd: home }, owner)
  for (let at = 0; at < 300; at++)
    await expect(gateway.sessions.prompt(id, { prompt: 'x' }, owner)).rejects.toMatchObject({ code: 'hook_stopped' })
  await gateway.close()
  expect(problems).toHaveLength(300)
  const texts = await Promise.all(
    ['gateway.jsonl.1', 'gateway.jsonl'].map((name) => readFile(join(home, 'logs', name), 'utf8')),
  )
  for (const text of texts) expect(text.length).toBeLessThanOrEqual(4_096)
  // Twenty in a minute; a machine may be slow.
  expect(texts.join('').match(/"msg":"problem"/g)?.length).toBeLessThan(100)
  expect(texts.at(-1)).toMatch(/"msg":"closed"[^\n]*\n$/)
  const audit = await readFile(join(home, 'logs', 'audit.jsonl'), 'utf8')
  expect(audit.match(/"action":"prompt"[^\n]*"outcome":"hook_stopped"/g)).toHaveLength(300)
  expect((await readdir(join(home, 'logs'))).toSorted()).toEqual(['audit.jsonl', 'gateway.jsonl', 'gateway.jsonl.1'])
})
