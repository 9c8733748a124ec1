import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { asRecord, asString, parseJson, systemClock } from '@agentproto/contracts'
import type { HomeLayout } from '@agentproto/contracts/agent'
import { daemonProcess } from '../daemon/daemon-process.js'
import type { Finding } from './finding.js'

/** What killed processes left in the home, and stores of what is gone. */
export async function checkLeftovers(home: HomeLayout): Promise<Finding> {
  const files = await filesOf(home)
  const found = [
    ['temporary', await old(files.filter((path) => TEMPORARY.test(nameOf(path))))],
    ['unreadable, moved aside', files.filter((path) => ASIDE.test(nameOf(path)))],
    ['locks of processes that are gone', await staleLocks(files, home)],
    ['sessions without a record', await lostSessions(home)],
    ['checkpoints of folders that are gone', await lostCheckpoints(home)],
  ] as const
  const left = found.filter(([, paths]) => paths.length > 0)
  if (left.length === 0) return { verdict: 'ok', detail: 'none' }
  const detail = left.map(([what, paths]) => `${paths.length} ${what}: ${paths.slice(0, 5).join(', ')}`).join('; ')
  return { verdict: 'warn', detail, hint: 'Look at them, then delete what you do not need while no gateway runs' }
}

/** Of atomic writes, and of installs that were interrupted. */
const TEMPORARY = /^\.(?:new|old|tmp)-|\.(?:jsonl?|md|lock)\.\d{5,}$|\.tmp$/
const ASIDE = /\.(?:unreadable|torn)-/
/** A younger file may be one that is being written. */
const OLD_MS = 10 * 60_000

/** In the home, and in the folders of which it knows the content. */
async function filesOf({ root, sessions, provisioning, rules, usage, agents }: HomeLayout): Promise<string[]> {
  const folders = [root, provisioning, rules, usage, agents, ...(await entriesOf(sessions))]
  const lists = []
  for (const folder of folders) lists.push(await entriesOf(folder))
  return lists.flat()
}

async function old(paths: readonly string[]): Promise<string[]> {
  const found = []
  for (const path of paths) if (await isOld(path)) found.push(path)
  return found
}

const isOld = (path: string): Promise<boolean> =>
  stat(path).then(
    ({ mtimeMs }) => systemClock.now() - mtimeMs > OLD_MS,
    () => false,
  )

/** A lock that is held is touched again and again; that of the gateway names its process. */
async function staleLocks(files: readonly string[], home: HomeLayout): Promise<string[]> {
  const gateway = join(home.root, 'daemon.lock')
  const others = await old(files.filter((path) => path.endsWith('.lock') && path !== gateway))
  const isDead = files.includes(gateway) && (await daemonProcess(home)) === undefined
  return isDead ? [gateway, ...others] : others
}

/** A session whose record is lost is still in the index. */
async function lostSessions({ sessions, sessionsIndex }: HomeLayout): Promise<string[]> {
  const index = await readFile(sessionsIndex, 'utf8').catch(() => '')
  const lost = []
  for (const folder of await entriesOf(sessions))
    if (!index.includes(`"${nameOf(folder)}"`) && !(await exists(join(folder, 'meta.json'))) && (await isOld(folder)))
      lost.push(folder)
  return lost
}

async function lostCheckpoints({ checkpoints }: HomeLayout): Promise<string[]> {
  const lost = []
  for (const shadow of await entriesOf(checkpoints)) {
    const text = await readFile(join(shadow, 'folder.json'), 'utf8').catch(() => '')
    const folder = asString(asRecord(parseJson(text))['path'])
    if (folder === undefined ? await isOld(shadow) : !(await exists(folder)))
      lost.push(folder === undefined ? shadow : `${shadow} of ${folder}`)
  }
  return lost
}

const entriesOf = (folder: string): Promise<string[]> =>
  readdir(folder).then(
    (names) => names.map((name) => join(folder, name)),
    () => [],
  )

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  )

const nameOf = (path: string): string => path.slice(path.lastIndexOf('/') + 1)
