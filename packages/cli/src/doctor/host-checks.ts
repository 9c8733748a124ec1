import { execFile } from 'node:child_process'
import { statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { release } from 'node:os'
import { promisify } from 'node:util'
import type { HomeLayout } from '@agentproto/contracts/agent'
import type { DoctorCheck } from '@agentproto/contracts/wire'
import { readDaemon } from '../daemon/daemon-record.js'
import type { CliContext } from '../cli-context.js'

const GIB = 1024 ** 3
const VERSION_MS = 10_000
const DEFAULT_PORT = 7646

/** The machine: Node, git, disk and port. */
export async function hostChecks(context: CliContext, home: HomeLayout): Promise<DoctorCheck[]> {
  return [nodeCheck(), await gitCheck(context), await diskCheck(home.root), await portCheck(home)]
}

const nodeCheck = (): DoctorCheck => ({
  id: 'node',
  title: 'Node',
  verdict: 'ok',
  detail: `${process.version} on ${process.platform} ${release()}`,
})

async function gitCheck({ env }: CliContext): Promise<DoctorCheck> {
  const about = { id: 'git', title: 'git' } as const
  try {
    const { stdout } = await promisify(execFile)('git', ['--version'], { env: { ...env }, timeout: VERSION_MS })
    return { ...about, verdict: 'ok', detail: stdout.trim() }
  } catch {
    return { ...about, verdict: 'warn', detail: 'not found', hint: 'Install git: most coding agents use it' }
  }
}

async function diskCheck(root: string): Promise<DoctorCheck> {
  const about = { id: 'disk', title: 'disk' } as const
  try {
    const { bavail, bsize } = await statfs(root)
    const free = bavail * bsize
    const detail = `${(free / GIB).toFixed(1)} GiB free at ${root}`
    if (free > GIB) return { ...about, verdict: 'ok', detail }
    const hint = 'Free disk space: a session ends when its log cannot be written'
    return { ...about, verdict: free > GIB / 10 ? 'warn' : 'fail', detail, hint }
  } catch {
    return { ...about, verdict: 'skip', detail: 'not available on this system' }
  }
}

/** Whether the default port is available. */
async function portCheck(home: HomeLayout): Promise<DoctorCheck> {
  const about = { id: 'port', title: 'port' } as const
  const own = (await readDaemon(home))?.url
  if (own?.endsWith(`:${DEFAULT_PORT}`) === true)
    return { ...about, verdict: 'ok', detail: `${DEFAULT_PORT} is used by the gateway of this home` }
  const free = await new Promise<boolean>((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(DEFAULT_PORT, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
  return {
    ...about,
    verdict: 'ok',
    detail: free ? `${DEFAULT_PORT} is free` : `${DEFAULT_PORT} is in use; a gateway without --port uses a free one`,
  }
}
