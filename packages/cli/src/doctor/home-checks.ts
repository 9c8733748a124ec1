import { stat } from 'node:fs/promises'
import type { HomeLayout } from '@agentproto/contracts/agent'
import type { DoctorCheck } from '@agentproto/contracts/wire'
import { readConfigFile } from '../config/config-file.js'

/** The home: it exists, only its owner can read it, and its configuration is valid. */
export async function homeChecks(home: HomeLayout): Promise<DoctorCheck[]> {
  const about = await stat(home.root).catch(() => undefined)
  if (about === undefined) {
    const detail = `${home.root} does not exist yet; the first start of the gateway creates it`
    return [{ id: 'home', title: 'home', verdict: 'ok', detail }]
  }
  return [
    { id: 'home', title: 'home', verdict: 'ok', detail: home.root },
    await permissionsCheck(home),
    await configCheck(home),
  ]
}

/** Folders are 0700 and files 0600: they hold conversations, tokens and secrets. */
async function permissionsCheck(home: HomeLayout): Promise<DoctorCheck> {
  const folders = [home.root, home.sessions, home.logs, home.crashBundles]
  const files = [home.token, home.tokens, home.secrets, home.config, home.workspaces, home.sessionsIndex, home.daemon]
  const open = (
    await Promise.all([...folders, ...files].map(async (path) => ((await isOpen(path)) ? [path] : [])))
  ).flat()
  const base = { id: 'permissions', title: 'permissions' } as const
  if (open.length === 0) return { ...base, verdict: 'ok', detail: 'only you can read it' }
  return {
    ...base,
    verdict: 'fail',
    detail: `other users can read ${open.join(', ')}`,
    hint: `Run: chmod go-rwx ${open.map((path) => `'${path}'`).join(' ')}`,
  }
}

async function isOpen(path: string): Promise<boolean> {
  if (process.platform === 'win32') return false
  const about = await stat(path).catch(() => undefined)
  return about !== undefined && (about.mode & 0o077) !== 0
}

async function configCheck({ config }: HomeLayout): Promise<DoctorCheck> {
  const about = { id: 'config', title: 'config.json' } as const
  try {
    const keys = Object.keys(await readConfigFile(config)).length
    return { ...about, verdict: 'ok', detail: keys === 0 ? 'nothing is set' : `valid, ${keys} keys` }
  } catch (thrown) {
    const detail = thrown instanceof Error ? thrown.message : String(thrown)
    return { ...about, verdict: 'fail', detail, hint: `Fix ${config}; no gateway starts with it` }
  }
}
