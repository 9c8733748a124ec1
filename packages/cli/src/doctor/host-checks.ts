import { execFile } from 'node:child_process'
import { statfs } from 'node:fs/promises'
import { createServer } from 'node:net'
import { release } from 'node:os'
import { promisify } from 'node:util'
import type { DoctorCheck, HomeLayout } from '@agentproto/contracts'
import { readDaemon } from '../daemon/daemon-record.js'
import type { Io } from '../io.js'

const GIB = 1024 ** 3
const VERSION_MS = 10_000
const DEFAULT_PORT = 7646

/** The machine: what agents and the gateway are run with and upon. */
export async function hostChecks(io: Io, home: HomeLayout): Promise<DoctorCheck[]> {
  return [nodeCheck(), await gitCheck(io), await diskCheck(home.root), await portCheck(home)]
}

const nodeCheck = (): DoctorCheck => ({
  id: 'node',
  title: 'Node',
  verdict: 'ok',
  detail: `${process.version} on ${process.platform} ${release()}`,
})

async function gitCheck({ env }: Io): Promise<DoctorCheck> {
  const about = { id: 'git', title: 'git' } as const
  try {
    const { stdout } = await promisify(execFile)('git', ['--version'], { env: { ...env }, timeout: VERSION_MS })
    return { ...about, verdict: 'ok', detail: stdout.trim() }
  } catch {
    return { ...about, verdict: 'warn', detail: 'not found', hint: 'Most coding agents use it: install git' }
  }
}

async function diskCheck(root: string): Promise<DoctorCheck> {
  const about = { id: 'disk', title: 'disk' } as const
  try {
    const { bavail, bsize } = await statfs(root)
    const free = bavail * bsize
    const detail = `${(free / GIB).toFixed(1)} GiB free at ${root}`
    if (free > GIB) return { ...about, verdict: 'ok', detail }
    const hint = 'Make room: a session that cannot be written to its log ends'
    return { ...about, verdict: free > GIB / 10 ? 'warn' : 'fail', detail, hint }
  } catch {
    return { ...about, verdict: 'skip', detail: 'this system does not tell' }
  }
}

/** Whether a gateway could have the usual port. */
async function portCheck(home: HomeLayout): Promise<DoctorCheck> {
  const about = { id: 'port', title: 'port' } as const
  const own = (await readDaemon(home))?.url
  if (own?.endsWith(`:${DEFAULT_PORT}`) === true)
    return { ...about, verdict: 'ok', detail: `${DEFAULT_PORT} is this home's own` }
  const free = await new Promise<boolean>((resolve) => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    probe.listen(DEFAULT_PORT, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
  return {
    ...about,
    verdict: 'ok',
    detail: free ? `${DEFAULT_PORT} is free` : `${DEFAULT_PORT} is in use; a gateway without --port takes a free one`,
  }
}
