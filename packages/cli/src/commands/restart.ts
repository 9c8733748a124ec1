import { setTimeout as delay } from 'node:timers/promises'
import { AgentprotoError } from '@agentproto/contracts'
import type { DaemonRecord, HomeLayout } from '@agentproto/contracts/agent'
import type { CommandResult, Define } from '../cli-command.js'
import { type CliContext, warn } from '../cli-context.js'
import { toSeconds } from '../command-definition.js'
import { readConfigFile } from '../config/config-file.js'
import { connect } from '../daemon/connect.js'
import { daemonProcess, type DaemonProcess } from '../daemon/daemon-process.js'
import { homeOf, readDaemon } from '../daemon/daemon-record.js'
import { answeringGateway, didNotStart, lockStart, startDaemon } from '../daemon/daemon-start.js'
import { withProgress } from '../progress.js'
import { version } from '../version.js'

const HELP = `
Examples:
  $ agentproto restart
  $ agentproto restart --end-agents    when it cannot leave its agents

To upgrade agentproto, install the new version as you installed this one, then restart.

The gateway starts again where it runs, with the options and the environment that it was started with, and with the
agentproto that is installed there now. Its agents go on meanwhile, in the same turn. Without a gateway, it starts one.`

interface RestartOptions {
  readonly endAgents?: boolean
  /** In seconds. */
  readonly timeout: number
}

const POLL_MS = 25

export const define: Define = (command) =>
  command
    .description('restart the gateway of this home; its agents go on')
    .option('--end-agents', 'restart it even if its agents end')
    .option('--timeout <seconds>', 'how long to wait for it', toSeconds, 60)
    .json()
    .addHelpText('after', HELP)
    .run(restart)

async function restart(context: CliContext, options: RestartOptions): Promise<CommandResult> {
  const home = homeOf(context)
  const before = await daemonProcess(home)
  if (before === undefined) return start(context)
  const replaced = await withProgress(context, 'Restarting the gateway', () => oneAtATime(context, before, options))
  // It has only ended: by itself, or because it is of a version that cannot restart.
  const record = replaced ?? (await startDaemon(context))
  if (record.version !== version())
    warn(context, `the gateway is ${record.version}, this command is ${version()}; see agentproto restart --help`)
  return {
    json: { restarted: true, pid: record.pid, url: record.url, version: record.version },
    text: record.url,
    note: `Process ${before.pid} was replaced by process ${record.pid}.`,
  }
}

async function start(context: CliContext): Promise<CommandResult> {
  const started = await startDaemon(context)
  const { pid, url } = started
  const json = { restarted: false, pid, url, version: started.version }
  return { json, text: url, note: 'No gateway was running. One was started.' }
}

/** While one command restarts the gateway, no other one starts it, and what a second one wants is then done. */
async function oneAtATime(
  context: CliContext,
  before: DaemonProcess,
  options: RestartOptions,
): Promise<DaemonRecord | undefined> {
  const home = homeOf(context)
  const until = Date.now() + options.timeout * 1_000
  const unlock = await poll(() => lockStart(home), { home, until })
  try {
    const serving = await poll(() => answeringGateway(home), { home, until })
    if (serving.pid !== before.pid) return serving
    return await replace(context, { serving, before }, { ...options, until })
  } finally {
    await unlock()
  }
}

async function replace(
  context: CliContext,
  { serving, before }: { readonly serving: DaemonRecord; readonly before: DaemonProcess },
  { endAgents = false, until }: RestartOptions & { readonly until: number },
): Promise<DaemonRecord | undefined> {
  const home = homeOf(context)
  if (serving.onRestart !== 'keeps-agents' && !endAgents) await assertNoAgent(context, serving)
  // With a configuration that is not valid, none would start again.
  await readConfigFile(home.config)
  // Its pid may be another process's by now.
  if (!before.isAlive()) return undefined
  process.kill(serving.pid, serving.onRestart === undefined ? 'SIGTERM' : 'SIGUSR2')
  const next = async (): Promise<DaemonRecord | undefined> => {
    const record = await answeringGateway(home)
    return record?.pid === serving.pid ? undefined : record
  }
  if (serving.onRestart !== undefined) return poll(next, { home, until })
  await poll(async () => ((await daemonProcess(home))?.pid === serving.pid ? undefined : true), { home, until })
  return undefined
}

/** @throws `not_supported` when sessions would lose their agents */
async function assertNoAgent(context: CliContext, gateway: DaemonRecord): Promise<void> {
  const { sessions } = await (await connect(context)).sessions.list({ limit: 1_000, onlyAlive: true })
  if (sessions.length === 0) return
  const why =
    gateway.onRestart === undefined
      ? `The gateway, version ${gateway.version}, cannot leave its agents`
      : 'The gateway runs without a keeper, so its agents end with it'
  throw new AgentprotoError('not_supported', `${why}: a restart would end ${sessions.length} of them`, {
    hint: 'End them, and restart it, with: agentproto restart --end-agents',
  })
}

interface Waiting {
  readonly home: HomeLayout
  /** Milliseconds since the epoch. */
  readonly until: number
}

/** @throws `daemon_not_running` when there is nothing by then */
async function poll<T>(find: () => Promise<T | undefined>, { home, until }: Waiting): Promise<T> {
  for (;;) {
    const found = await find()
    if (found !== undefined) return found
    if (Date.now() > until) throw didNotStart(home, await whyNot(home))
    await delay(POLL_MS)
  }
}

const whyNot = async (home: HomeLayout): Promise<string> =>
  (await daemonProcess(home)) === undefined
    ? 'it ended, and none took its place; the agents that are kept wait for the next one'
    : `process ${(await readDaemon(home))?.pid ?? ''} does not answer`.replace('  ', ' ')
