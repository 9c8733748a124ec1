import { createWriteStream } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { release } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createGzip } from 'node:zlib'
import type { Session } from '@agentproto/contracts'
import { pack } from 'tar-stream'
import type { CliContext } from '../cli-context.js'
import { connect } from '../daemon/connect.js'
import { daemonLog, gatewayLog, tailOf } from '../daemon/daemon-log.js'
import { homeOf, readDaemon } from '../daemon/daemon-record.js'
import { gitVersion, runChecks } from '../doctor/checks.js'
import { version } from '../version.js'
import { supportRedaction } from './redaction.js'

export interface BundleFile {
  readonly name: string
  readonly text: string
}

const FOLDER = 'agentproto-support'
const LOG_LINES = 2_000
const MAX_CRASHES = 20
const MAX_SESSIONS = 200

/** Writes the files as a gzipped tar archive that only its owner can read. It never overwrites a file. */
export async function writeBundle(path: string, files: readonly BundleFile[], mtime: Date): Promise<void> {
  const archive = pack()
  for (const { name, text } of files) archive.entry({ name: `${FOLDER}/${name}`, mode: 0o600, mtime }, text)
  archive.finalize()
  await pipeline(archive, createGzip(), createWriteStream(path, { mode: 0o600, flags: 'wx' }))
}

/** Everything that helps, without prompts, answers and secrets. */
export async function bundleFiles(context: CliContext): Promise<readonly BundleFile[]> {
  const home = homeOf(context)
  const redact = await supportRedaction(context)
  const json = (name: string, value: unknown): BundleFile => ({ name, text: JSON.stringify(value, undefined, 2) })
  const files = [
    json('versions.json', await versions(context)),
    json('doctor.json', await runChecks(context)),
    json('daemon.json', (await readDaemon(home)) ?? null),
    json('sessions.json', await sessionStates(context)),
    { name: 'config.json', text: await readFile(home.config, 'utf8').catch(() => '{}') },
    { name: 'daemon.log', text: tailOf(daemonLog(home), LOG_LINES).join('\n') },
    { name: 'gateway.jsonl', text: tailOf(gatewayLog(home), LOG_LINES).join('\n') },
    ...(await crashBundles(home.crashBundles)),
  ]
  return files.map(({ name, text }) => ({ name, text: redact(text) }))
}

const versions = async ({ env }: CliContext): Promise<object> => ({
  agentproto: version(),
  node: process.version,
  platform: process.platform,
  release: release(),
  arch: process.arch,
  git: await gitVersion(env),
  // Names only: a value may be private.
  environment: Object.keys(env).filter((name) => name.startsWith('AGENTPROTO_') || name === 'NO_COLOR'),
})

async function sessionStates(context: CliContext): Promise<unknown> {
  try {
    const client = await connect({ ...context, autoStart: false })
    const { sessions } = await client.sessions.list({ limit: MAX_SESSIONS })
    return sessions.map(stateOf)
  } catch (thrown) {
    return { unavailable: thrown instanceof Error ? thrown.message : String(thrown) }
  }
}

/** No label, title, folder or output: those are private. */
function stateOf(session: Session): object {
  const { id, adapterSlug, status, stopReason, failure, turnCount, startedAt, agent, sandbox } = session
  const turn = session.turn.state
  return { id, adapterSlug, status, stopReason, failure, turnCount, turn, startedAt, agent, sandbox }
}

async function crashBundles(folder: string): Promise<BundleFile[]> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.json'))
  const newest = names.toSorted().slice(-MAX_CRASHES)
  return Promise.all(
    newest.map(async (name) => ({
      name: `crash-bundles/${name}`,
      text: await readFile(join(folder, name), 'utf8').catch(() => ''),
    })),
  )
}
