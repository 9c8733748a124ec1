import { mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { homeLayout } from '@agentproto/contracts/agent'
import { openKeeper } from '@agentproto/keeper'
import { expect, onTestFinished, test } from 'vitest'
import { checkEngines } from '../src/doctor/agent-engines.js'
import { byteCount } from '../src/doctor/byte-count.js'
import { checkClock } from '../src/doctor/clock.js'
import { folderSize } from '../src/doctor/folder-size.js'
import { checkHome } from '../src/doctor/home-access.js'
import { checkKeeper } from '../src/doctor/keeper.js'
import { checkLeftovers } from '../src/doctor/leftovers.js'
import { folder } from './cli-process.js'

const NOW = Date.parse('2026-11-22T12:00:00.000Z')

/** A file that was written at that time. */
function write(path: string, content: string, at = NOW): void {
  mkdirSync(join(path, '..'), { recursive: true })
  writeFileSync(path, content)
  utimesSync(path, at / 1_000, at / 1_000)
}

test('14.3.4 a small size is not shown as nothing', () => {
  expect([0, 1, 900, 2_048, 12_800, 5 * 1024 ** 2, 3 * 1024 ** 4].map(byteCount)).toEqual([
    '0 bytes',
    '1 byte',
    '900 bytes',
    '2.0 KiB',
    '12.5 KiB',
    '5.0 MiB',
    '3.0 TiB',
  ])
})

test('14.3.4 the size of a folder is that of the files below it', async () => {
  const root = folder()
  write(join(root, 'a', 'b', 'one'), 'x'.repeat(100))
  write(join(root, 'c', 'two'), 'x'.repeat(20))
  expect(await folderSize(root)).toEqual({ folders: 2, bytes: 120, isMore: false })
  expect(await folderSize(join(root, 'none'))).toEqual({ folders: 0, bytes: 0, isMore: false })
})

test('14.3.4 a home that cannot be written is a failure with what to do', async () => {
  const root = folder()
  write(join(root, 'config.json'), '{}')
  expect(await checkHome(homeLayout(root))).toEqual({ verdict: 'ok', detail: root })
  const file = join(root, 'config.json')
  expect(await checkHome(homeLayout(file))).toMatchObject({ verdict: 'fail', detail: `${file} is not a folder` })
  expect(await checkHome(homeLayout(join(root, 'new', 'home')))).toMatchObject({
    verdict: 'ok',
    detail: expect.stringContaining('does not exist yet') as string,
  })
})

test.runIf(process.platform === 'linux')('14.3.4 a home that not even root can write is a failure', async () => {
  expect(await checkHome(homeLayout('/proc/self/ns'))).toMatchObject({
    verdict: 'fail',
    detail: expect.stringContaining('this user cannot write') as string,
  })
})

test('14.3.4 what killed processes left is found, and what is in use is not', async () => {
  const root = folder()
  const home = homeLayout(root)
  const files = [
    'config.json',
    'sessions/s_1/meta.json',
    'sessions/s_1/events.jsonl',
    'provisioning/a.json',
    'agents/a/x',
  ]
  for (const name of files) write(join(root, name), '{}')
  write(join(root, 'sessions.json'), '{"sessions":[{"id":"s_1"},{"id":"s_2"}]}')
  // Of the index alone, and so not lost.
  write(join(root, 'sessions/s_2/events.jsonl'), '')
  write(join(root, 'checkpoints/d1/folder.json'), JSON.stringify({ version: 1, path: root }))
  expect(await checkLeftovers(home)).toEqual({ verdict: 'ok', detail: 'none' })
  const left = [
    'sessions/s_1/meta.json.1234567890',
    'agents/.new-a-0a1b2c3d',
    'config.json.unreadable-2026',
    'daemon.lock',
    'provisioning/a.json.lock',
    'sessions/s_3/events.jsonl',
    'checkpoints/d2/folder.json',
  ]
  for (const name of left) write(join(root, name), '{"version":1,"path":"/no/such/folder"}')
  utimesSync(join(root, 'sessions/s_3'), NOW / 1_000, NOW / 1_000)
  const { verdict, detail } = await checkLeftovers(home)
  expect(verdict).toBe('warn')
  expect(detail?.split('; ')).toEqual([
    `2 temporary: ${join(root, 'agents/.new-a-0a1b2c3d')}, ${join(root, 'sessions/s_1/meta.json.1234567890')}`,
    `1 unreadable, moved aside: ${join(root, 'config.json.unreadable-2026')}`,
    `2 locks of processes that are gone: ${join(root, 'daemon.lock')}, ${join(root, 'provisioning/a.json.lock')}`,
    `1 sessions without a record: ${join(root, 'sessions/s_3')}`,
    `1 checkpoints of folders that are gone: ${join(root, 'checkpoints/d2')} of /no/such/folder`,
  ])
})

test('14.3.4 a file that is being written is no leftover', async () => {
  const root = folder()
  write(join(root, 'config.json.1234567890'), '{}', Date.now())
  write(join(root, 'workspaces.json.lock'), '', Date.now())
  expect(await checkLeftovers(homeLayout(root))).toEqual({ verdict: 'ok', detail: 'none' })
})

test.each([
  ['agrees', NOW, NOW, 'ok', /agrees/],
  ['is before the newest event', NOW + 3 * 86_400_000, NOW + 3 * 86_400_000, 'warn', /it is 3 days before the newest/],
  ['is before the newest file', NOW + 600_000, NOW - 1_000, 'warn', /it is 10 minutes before the newest event/],
  ['is not that of the file server', NOW - 7_300_000, NOW - 1_000, 'warn', /times of files differ from it by 2 hours/],
] as const)('14.3.4 a clock that %s', async (_what, fileTime, eventTime, verdict, detail) => {
  const root = folder()
  const event = (at: number): string =>
    `${JSON.stringify({ seq: 1, ts: new Date(at).toISOString(), type: 'status' })}\n`
  write(join(root, 'sessions/s_0/events.jsonl'), event(NOW - 9_000_000), NOW - 9_000_000)
  write(join(root, 'sessions/s_1/events.jsonl'), event(NOW - 86_400_000) + event(eventTime), fileTime)
  const found = await checkClock(homeLayout(root), { now: () => NOW })
  expect(found).toMatchObject({ verdict, detail: expect.stringMatching(detail) as string })
})

test('14.3.4 a home without sessions, and a torn log, are no problem of the clock', async () => {
  const root = folder()
  expect(await checkClock(homeLayout(root))).toMatchObject({ verdict: 'ok' })
  write(join(root, 'sessions/s_1/events.jsonl'), '{"seq":1,"ts":"20')
  expect(await checkClock(homeLayout(root), { now: () => NOW })).toMatchObject({ verdict: 'ok' })
})

test('14.3.4 the engines of installed agents are compared with the Node that runs them', async () => {
  const root = join(folder(), 'node_modules')
  const agent = (name: string, node?: string): string => {
    const engines = node === undefined ? {} : { engines: { node } }
    write(join(root, name, 'package.json'), JSON.stringify({ name, version: '1.0.0', ...engines }))
    write(join(root, name, 'dist', 'package.json'), '{"type":"module"}')
    return join(root, name, 'dist', 'main.js')
  }
  const executables = new Map([
    ['old', agent('old', '>=18')],
    ['new', agent('new', '>=22.19')],
    ['odd', agent('odd', 'any')],
    ['plain', agent('plain')],
  ])
  const slugs = [...executables.keys(), 'absent']
  const adapters = {
    list: async () => slugs.map((slug) => ({ slug, installed: slug !== 'absent' })),
    state: async (slug: string) => ({ executable: executables.get(slug) }),
  }
  expect(await checkEngines(adapters, '20.11.0')).toMatchObject({
    verdict: 'warn',
    detail: 'this Node is 20.11.0: new requires >=22.19',
  })
  expect(await checkEngines(adapters, '24.1.0')).toMatchObject({ verdict: 'ok' })
})

test('16.2 a program that has the keeper in place of the gateway is named, with what to do', async () => {
  const home = homeLayout(folder())
  const keeper = await openKeeper({ folder: home.keeper, orphanMs: 1_000 })
  onTestFinished(async () => void (await keeper.stop()))
  const daemon = (pid: number): void => writeFileSync(home.daemon, JSON.stringify({ pid, url: 'http://127.0.0.1:1' }))
  expect(await checkKeeper(home)).toMatchObject({ verdict: 'ok' })
  daemon(process.pid)
  expect(await checkKeeper(home)).toMatchObject({ verdict: 'ok' })
  daemon(process.ppid)
  expect(await checkKeeper(home)).toMatchObject({
    verdict: 'warn',
    detail: expect.stringContaining(`process ${process.pid} has it, and not the gateway`) as string,
    hint: expect.stringContaining('End that program') as string,
  })
})
