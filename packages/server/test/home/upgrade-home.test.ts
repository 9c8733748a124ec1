import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type HomeDisk, nodeDisk } from '../../src/home/home-disk.js'
import type { HomeFiles } from '../../src/home/home-files.js'
import { readHomeRecord } from '../../src/home/home-record.js'
import type { FileChange, HomeStep } from '../../src/home/home-steps.js'
import { upgradeHome, type UpgradeOptions } from '../../src/home/upgrade-home.js'
import { type Kill, killedDisk, quickDisk, watchedDisk } from '../fixtures/killed-disk.js'
import { temporaryFolder } from '../fixtures/temporary-folder.js'

const NOW = Date.parse('2026-11-22T12:00:00.000Z')
const BY = { version: '9.9.9', build: 'abc' }

/** Marks each session, drops a file and adds one. */
const mark: HomeStep = { what: 'marks', changes: (files) => markOf(files) }

function* markOf(files: HomeFiles): Iterable<FileChange> {
  for (const id of files.list('sessions').folders) {
    const path = `sessions/${id}/meta.json`
    const text = files.read(path)
    if (text !== undefined && !text.endsWith(' marked')) yield { path, content: `${text} marked` }
  }
  if (files.read('old.json') !== undefined) yield { path: 'old.json', content: undefined }
  if (files.read('new/place.json') === undefined) yield { path: 'new/place.json', content: 'new' }
}

/** The second step relies on what the first one has done. */
const tally: HomeStep = {
  what: 'counts',
  changes: (files) => [
    { path: 'count', content: `${files.list('sessions').folders.length}${files.read('new/place.json')}` },
  ],
}

const STEPS = [mark, tally]
const options: UpgradeOptions = { by: BY, now: NOW, steps: STEPS }

function write(root: string, files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true })
    writeFileSync(join(root, path), text, { mode: 0o600 })
  }
}

const OLD = {
  'sessions/s_1/meta.json': 'one',
  'sessions/s_1/events.jsonl': 'log of one',
  'sessions/s_2/meta.json': 'two',
  'old.json': 'old',
  token: 'secret',
}
const NEW = {
  'sessions/s_1/meta.json': 'one marked',
  'sessions/s_1/events.jsonl': 'log of one',
  'sessions/s_2/meta.json': 'two marked',
  'new/place.json': 'new',
  token: 'secret',
  count: '2new',
}

async function oldHome(files: Readonly<Record<string, string>> = OLD): Promise<string> {
  const root = await temporaryFolder()
  write(root, files)
  return root
}

/** Every file of a folder with its content, without `home.json` and backups. */
function filesOf(root: string): Record<string, string> {
  const names = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort()
  const own = names.filter((name) => !/^(?:backups|home\.json)/.test(name) && statSync(join(root, name)).isFile())
  return Object.fromEntries(own.map((name) => [name, readFileSync(join(root, name), 'utf8')]))
}

const backup = (root: string): Record<string, string> =>
  filesOf(join(root, 'backups', '0-20261122T120000000Z', 'before'))

const BACKED_UP = {
  'sessions/s_1/meta.json': 'one',
  'sessions/s_2/meta.json': 'two',
  'old.json': 'old',
}

test('16 a home of an older agentproto is brought up to date step by step, with a copy of the files that changed', async () => {
  const root = await oldHome()
  expect(upgradeHome(root, options)).toEqual({
    format: 2,
    writtenBy: BY,
    writtenAt: '2026-11-22T12:00:00.000Z',
    upgrades: [
      { from: 0, to: 1, at: '2026-11-22T12:00:00.000Z', backup: 'backups/0-20261122T120000000Z' },
      { from: 1, to: 2, at: '2026-11-22T12:00:00.000Z', backup: 'backups/1-20261122T120000000Z' },
    ],
  })
  expect(filesOf(root)).toEqual(NEW)
  expect(backup(root)).toEqual(BACKED_UP)
  expect(readdirSync(join(root, 'backups', '0-20261122T120000000Z'))).toEqual(['before'])
  expect(statSync(join(root, 'backups')).mode & 0o777).toBe(0o700)
  for (const path of ['home.json', 'count', 'sessions/s_1/meta.json'])
    expect(statSync(join(root, path)).mode & 0o777, path).toBe(0o600)
})

test('16 a home that is up to date is not written again, except for the name of another agentproto', async () => {
  const root = await oldHome()
  const record = upgradeHome(root, options)
  const before = statSync(join(root, 'home.json')).mtimeMs
  expect(upgradeHome(root, { ...options, now: NOW + 1_000 })).toEqual(record)
  expect(statSync(join(root, 'home.json')).mtimeMs).toBe(before)
  const later = upgradeHome(root, { ...options, by: { version: '10.0.0' }, now: NOW + 1_000 })
  expect(later).toEqual({ ...record, writtenBy: { version: '10.0.0' }, writtenAt: '2026-11-22T12:00:01.000Z' })
  expect(readHomeRecord(root)).toEqual(later)
})

test('16 a step that changes nothing leaves no backup', async () => {
  const root = await oldHome()
  const { upgrades } = upgradeHome(root, { ...options, steps: [{ what: 'nothing', changes: () => [] }] })
  expect(upgrades).toEqual([{ from: 0, to: 1, at: '2026-11-22T12:00:00.000Z' }])
  expect(existsSync(join(root, 'backups'))).toBe(false)
})

/** The places where a whole upgrade can be killed. */
async function kills(): Promise<readonly Kill[]> {
  const operations: string[] = []
  upgradeHome(await oldHome(), { ...options, disk: watchedDisk((operation) => void operations.push(operation)) })
  return operations.flatMap((operation, index) => {
    const at = index + 1
    return operation === 'create'
      ? [
          { at, isWithin: false },
          { at, isWithin: true },
        ]
      : [{ at, isWithin: false }]
  })
}

/** The error of an upgrade on a disk, if it fails. */
function failureOf(root: string, disk: HomeDisk): string {
  try {
    upgradeHome(root, { ...options, now: NOW + 1, disk })
    return ''
  } catch (error) {
    return String(error)
  }
}

test('16 an upgrade that is killed at any file operation is finished by the next start, with the same copies', async () => {
  const all = await kills()
  expect(all.length).toBeGreaterThan(80)
  for (const kill of all) {
    const where = JSON.stringify(kill)
    const root = await oldHome()
    expect(failureOf(root, killedDisk(kill)), where).toContain('could not be upgraded')
    // What is not decided yet has changed nothing.
    expect(readHomeRecord(root) === undefined ? filesOf(root) : OLD, where).toMatchObject(OLD)
    // The repair is killed too, at one of its first operations.
    expect(failureOf(root, killedDisk({ ...kill, at: 1 + (kill.at % 17) })), where).toMatch(/^$|could not be upgraded/)
    expect(upgradeHome(root, { ...options, now: NOW + 2, disk: quickDisk }).format).toBe(2)
    expect(filesOf(root), where).toEqual(NEW)
    const folders = readdirSync(join(root, 'backups')).sort()
    expect(
      folders.map((folder) => folder.split('-')[0]),
      where,
    ).toEqual(['0', '1'])
    expect(filesOf(join(root, 'backups', folders[0] ?? '', 'before')), where).toEqual(BACKED_UP)
    expect(readdirSync(join(root, 'backups', folders[0] ?? ''))).toEqual(['before'])
    expect(readdirSync(root).filter((name) => name.startsWith('home.json'))).toEqual(['home.json'])
  }
})

test('16 an older agentproto refuses a home of which the upgrade was interrupted', async () => {
  let refused = 0
  for (const kill of await kills()) {
    const home = await oldHome()
    expect(failureOf(home, killedDisk(kill))).toContain('could not be upgraded')
    if ((readHomeRecord(home)?.format ?? 0) < 2) continue
    refused += 1
    expect(() => upgradeHome(home, { ...options, steps: [mark] })).toThrow(/in format 2/)
  }
  expect(refused).toBeGreaterThan(5)
})

const HOMES = fileURLToPath(new URL('../../../../e2e/homes', import.meta.url))
const ARCHIVES = readdirSync(HOMES).filter((name) => name.endsWith('.tar.gz'))

test.each(ARCHIVES)(
  '16 a step over all records of a home that an earlier commit wrote, killed in the middle: %s',
  async (archive) => {
    const folder = await temporaryFolder()
    execFileSync('tar', ['-xzf', join(HOMES, archive), '-C', folder])
    const root = join(folder, 'home')
    const before = filesOf(root)
    const records = Object.entries(before).filter(([name]) => name.endsWith('meta.json'))
    expect(records).toHaveLength(3)
    let renames = 0
    const disk = watchedDisk((operation) => {
      if (operation === 'rename') renames += 1
      if (renames === 3) throw new Error('killed when one of the files is in its place')
    })
    expect(failureOf(root, disk)).toContain('could not be upgraded')
    expect(readHomeRecord(root)?.pending).toMatch(/^backups\/0-/)
    expect(upgradeHome(root, options).format).toBe(2)
    const marked = records.map(([name, text]) => [name, `${text} marked`])
    expect(filesOf(root)).toEqual({ ...before, ...Object.fromEntries(marked), 'new/place.json': 'new', count: '3new' })
    const [folderName = ''] = readdirSync(join(root, 'backups'))
    expect(filesOf(join(root, 'backups', folderName, 'before'))).toEqual(Object.fromEntries(records))
  },
)

test('16 a disk that is too full, and a home that is too large, refuse an upgrade before anything is changed', async () => {
  const root = await oldHome()
  const limits = { files: 100, bytes: 1_000, reserve: 100 }
  const full = { ...nodeDisk, freeBytes: () => 105 }
  const refused = (given: Partial<UpgradeOptions>): unknown => {
    try {
      upgradeHome(root, { ...options, limits, ...given })
    } catch (error) {
      return error
    }
    return undefined
  }
  expect(refused({ disk: full })).toMatchObject({
    code: 'home_upgrade_failed',
    message: expect.stringMatching(/The disk is too full.*bytes free.*105 bytes free.*Free disk space/) as string,
  })
  expect(refused({ limits: { ...limits, files: 2 } })).toMatchObject({
    message: expect.stringContaining('too large') as string,
  })
  expect(refused({ limits: { ...limits, bytes: 20 } })).toMatchObject({
    message: expect.stringContaining('prune') as string,
  })
  // A disk that fills up under the writes themselves.
  let writes = 0
  function create(path: string, text: string): void {
    writes += 1
    if (writes === 2) throw Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' })
    nodeDisk.create(path, text)
  }
  expect(refused({ disk: { ...nodeDisk, create } })).toMatchObject({
    code: 'home_upgrade_failed',
    message: expect.stringContaining('ENOSPC') as string,
  })
  expect(filesOf(root)).toEqual(OLD)
  expect(existsSync(join(root, 'home.json'))).toBe(false)
  expect(readdirSync(join(root, 'backups'))).toEqual([])
  expect(upgradeHome(root, options).format).toBe(2)
})

test('16 links and other strange files of a home are not followed', async () => {
  const outside = await temporaryFolder()
  write(outside, { 's_1/meta.json': 'one', precious: 'precious' })
  const changesOf = (path: string): readonly HomeStep[] => [{ what: 'x', changes: () => [{ path, content: 'x' }] }]
  const linked = await oldHome({ token: 'secret' })
  symlinkSync(outside, join(linked, 'sessions'))
  symlinkSync(join(outside, 'precious'), join(linked, 'precious'))
  mkdirSync(join(linked, 'folder'))
  for (const steps of [STEPS, changesOf('sessions/s_1/meta.json'), changesOf('precious'), changesOf('folder')])
    expect(() => upgradeHome(linked, { ...options, steps })).toThrow(/is not what it should be/)
  for (const path of ['../precious', '/etc/x', 'a//b', './x', 'home.json', 'backups/x', 'daemon.lock', ''])
    expect(() => upgradeHome(linked, { ...options, steps: changesOf(path) }), path).toThrow(/may not change this path/)
  const elsewhere = await oldHome()
  symlinkSync(outside, join(elsewhere, 'backups'))
  expect(() => upgradeHome(elsewhere, options)).toThrow(/is not what it should be/)
  expect(filesOf(outside)).toEqual({ 's_1/meta.json': 'one', precious: 'precious' })
  expect(readHomeRecord(linked)).toBeUndefined()
})

test('16 a crafted pending upgrade moves nothing into or out of the home', async () => {
  const outside = await temporaryFolder()
  write(outside, { 'after/changes.json': '[{"path":"token"}]', 'after/0': 'stolen' })
  const crafted = async (pending: unknown, changes: unknown): Promise<string> => {
    const root = await oldHome()
    const record = { format: 2, writtenBy: BY, writtenAt: '', upgrades: [], pending }
    write(root, { 'home.json': JSON.stringify(record) })
    write(root, { 'backups/1-20261122T120000000Z/after/changes.json': JSON.stringify(changes) })
    write(root, { 'backups/1-20261122T120000000Z/after/0': 'new' })
    return root
  }
  const folder = 'backups/1-20261122T120000000Z'
  for (const [pending, changes, why] of [
    [`../${outside.split('/').pop()}`, [{ path: 'token' }], /is not valid/],
    [outside, [{ path: 'token' }], /is not valid/],
    ['backups/1-20261122T130000000Z', [{ path: 'token' }], /cannot be finished/],
    [folder, [], /cannot be finished/],
    [folder, 'x', /cannot be finished/],
    [folder, [{ path: '../escaped' }], /may not change this path/],
    [folder, [{ path: 7 }], /may not change this path/],
    [folder, [{ path: 'sessions' }], /is not what it should be/],
  ] as const) {
    const root = await crafted(pending, changes)
    expect(() => upgradeHome(root, options), JSON.stringify([pending, changes])).toThrow(why)
    expect(filesOf(root)).toMatchObject(OLD)
  }
})

test('16 backups are pruned by count and by age; other folders stay', async () => {
  const root = await oldHome()
  const days = (count: number): number => NOW + count * 24 * 60 * 60_000
  const steps: HomeStep[] = []
  for (let day = 0; day < 7; day += 1) {
    steps.push({ what: 'x', changes: () => [{ path: 'count', content: `${day}` }] })
    upgradeHome(root, { ...options, steps, now: days(day) })
  }
  write(root, { 'backups/mine/x': 'x', 'backups/0-2020/x': 'x' })
  const names = (): string[] => readdirSync(join(root, 'backups')).sort()
  expect(names().map((name) => name.slice(0, 6))).toEqual([
    '0-2020',
    '2-2026',
    '3-2026',
    '4-2026',
    '5-2026',
    '6-2026',
    'mine',
  ])
  upgradeHome(root, { ...options, steps, now: days(94.5) })
  expect(names().map((name) => name.slice(0, 6))).toEqual(['0-2020', '5-2026', '6-2026', 'mine'])
})
