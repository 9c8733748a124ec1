import { execFileSync } from 'node:child_process'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { release } from 'node:os'
import { join, resolve } from 'node:path'
import { AgentprotoError, EXIT, type Session } from '@agentproto/contracts'
import { daemonLog, gatewayLog, tailOf } from '../daemon/daemon-log.js'
import { connect } from '../daemon/daemon.js'
import { homeOf, readDaemon } from '../daemon/daemon-record.js'
import { print, printJson, type Io } from '../io.js'
import { withProgress } from '../progress.js'
import { supportRedaction } from '../support/redaction.js'
import { tarOf, type TarEntry } from '../support/tar.js'
import { version } from '../version.js'
import { examine } from './doctor.js'

export interface SupportBundleOptions {
  readonly output?: string
  readonly json?: boolean
}

const LOG_LINES = 2_000
const CRASHES = 20
const SESSIONS = 200

/**
 * `agentproto support-bundle`: one file for whoever helps. It holds no prompt, no answer and no secret; what it holds
 * is listed, so that it can be looked at before it is sent.
 */
export async function makeSupportBundle(io: Io, { output, json }: SupportBundleOptions): Promise<number> {
  const now = new Date()
  const path = resolve(
    io.cwd,
    output ?? `agentproto-support-${now.toISOString().slice(0, 19).replace(/[:T]/g, '-')}.tar.gz`,
  )
  const entries = await withProgress(io, 'Collecting', () => collect(io))
  const folder = 'agentproto-support'
  const archive = tarOf(
    entries.map(({ name, text }) => ({ name: `${folder}/${name}`, text })),
    now,
  )
  await writeFile(path, archive, { mode: 0o600, flag: 'wx' }).catch((thrown: NodeJS.ErrnoException) => {
    throw new AgentprotoError('path_invalid', `${path} cannot be written`, {
      given: thrown.message,
      hint: 'Name another file with --output',
      cause: thrown,
    })
  })
  const files = entries.map(({ name }) => name)
  if (json === true) printJson(io, { path, files })
  else print(io.stdout, path)
  if (json !== true) print(io.stderr, `Secrets are taken out. Look into it before you send it: tar -xzf ${path}`)
  return EXIT.ok
}

async function collect(io: Io): Promise<readonly TarEntry[]> {
  const home = homeOf(io)
  const redact = await supportRedaction(io)
  const document = (name: string, value: unknown): TarEntry => ({ name, text: JSON.stringify(value, undefined, 2) })
  const entries = [
    document('versions.json', versions(io)),
    document('doctor.json', await examine(io)),
    document('daemon.json', (await readDaemon(home)) ?? null),
    document('sessions.json', await sessionsOf(io)),
    { name: 'config.json', text: await readFile(home.config, 'utf8').catch(() => '{}') },
    { name: 'daemon.log', text: tailOf(daemonLog(home), LOG_LINES).join('\n') },
    { name: 'gateway.jsonl', text: tailOf(gatewayLog(home), LOG_LINES).join('\n') },
    ...(await crashBundles(home.crashBundles)),
  ]
  return entries.map(({ name, text }) => ({ name, text: redact(text) }))
}

const versions = ({ env }: Io): object => ({
  agentproto: version(),
  node: process.version,
  platform: process.platform,
  release: release(),
  arch: process.arch,
  git: gitVersion(env),
  // Names alone: a value is nobody's business.
  environment: Object.keys(env).filter((name) => name.startsWith('AGENTPROTO_') || name === 'NO_COLOR'),
})

function gitVersion(env: Io['env']): string | undefined {
  try {
    return execFileSync('git', ['--version'], { encoding: 'utf8', env: { ...env }, stdio: 'pipe' }).trim()
  } catch {
    return undefined
  }
}

/** How sessions are, and not what was said in them. */
async function sessionsOf(io: Io): Promise<unknown> {
  try {
    const client = await connect({ ...io, mayStart: false })
    const { sessions } = await client.sessions.list({ limit: SESSIONS })
    return sessions.map(aboutSession)
  } catch (thrown) {
    return { unavailable: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}

const aboutSession = ({
  id,
  adapterSlug,
  status,
  stopReason,
  failure,
  turnCount,
  turn,
  startedAt,
  agent,
  sandbox,
}: Session): object => ({
  id,
  adapterSlug,
  status,
  stopReason,
  failure,
  turnCount,
  turn: turn.state,
  startedAt,
  agent,
  sandbox,
})

async function crashBundles(folder: string): Promise<TarEntry[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json'))
  const newest = names.toSorted().slice(-CRASHES)
  return Promise.all(
    newest.map(async (name) => ({
      name: `crash-bundles/${name}`,
      text: await readFile(join(folder, name), 'utf8').catch(() => ''),
    })),
  )
}
