import { existsSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'
import { AgentprotoError } from '@agentproto/contracts'
import type { HomeLayout } from '@agentproto/contracts/agent'
import type { CommandResult, Define } from '../cli-command.js'
import type { CliContext } from '../cli-context.js'
import { toSeconds } from '../command-definition.js'
import { daemonProcess, type DaemonProcess } from '../daemon/daemon-process.js'
import { homeOf, readDaemon } from '../daemon/daemon-record.js'
import { withProgress } from '../progress.js'

const HELP = `
Examples:
  $ agentproto stop
  $ agentproto stop --keep-agents      its agents go on, for the next gateway
  $ agentproto stop --force            kill it, when it does not stop

It returns when the gateway and all its agents have ended, also agents that a killed gateway has left. Resumable sessions
continue after the next start.`

interface StopOptions {
  readonly force?: boolean
  readonly keepAgents?: boolean
  /** In seconds. */
  readonly timeout: number
}

const POLL_MS = 50

export const define: Define = (command) =>
  command
    .description('stop the gateway of this home, and all its agents')
    .option('--keep-agents', 'leave its agents to the next gateway')
    .option('--force', 'kill it at once')
    .option('--timeout <seconds>', 'how long to wait for it', toSeconds, 60)
    .json()
    .addHelpText('after', HELP)
    .run(stop)

async function stop(context: CliContext, options: StopOptions): Promise<CommandResult> {
  const home = homeOf(context)
  const daemon = await daemonProcess(home)
  // A newer agentproto may lock its home in another way.
  if (daemon === undefined) (await import('@agentproto/server/home')).assertHomeReadable(home.root)
  if (daemon === undefined) return stopWithout(context, options)
  if (options.keepAgents === true) await assertKeeping(home, daemon)
  const agents = options.keepAgents === true ? '' : ' and its agents'
  await withProgress(context, `Stopping the gateway${agents}`, () => end(daemon, options))
  // A killed gateway leaves them.
  if (options.force === true && options.keepAgents !== true) await endLeftAgents(context)
  return { json: { stopped: true, pid: daemon.pid }, note: `Stopped process ${daemon.pid}.` }
}

/** Without a gateway there may be agents that one has left. */
async function stopWithout(context: CliContext, { keepAgents }: StopOptions): Promise<CommandResult> {
  const ended = keepAgents === true ? 0 : await endLeftAgents(context)
  const note =
    ended === 0 ? 'No gateway was running.' : `No gateway was running. Ended ${agentsText(ended)} that one had left.`
  return { json: { stopped: false, endedAgents: ended }, note }
}

async function endLeftAgents(context: CliContext): Promise<number> {
  const { root, keeper } = homeOf(context)
  // Most homes have none.
  if (!existsSync(keeper)) return 0
  const { endKeptAgents } = await import('@agentproto/runtime')
  return withProgress(context, 'Ending agents that a gateway has left', () => endKeptAgents(root))
}

const agentsText = (count: number): string => `${count} agent${count === 1 ? '' : 's'}`

/** @throws `not_supported` when its agents would end with the gateway */
async function assertKeeping(home: HomeLayout, { pid }: DaemonProcess): Promise<void> {
  const record = await readDaemon(home)
  if (record?.pid === pid && record.onRestart === 'keeps-agents') return
  throw new AgentprotoError('not_supported', `The gateway, process ${pid}, cannot leave its agents`, {
    hint: 'It is still starting, is of an older version, or runs without a keeper. Its agents end with: agentproto stop',
  })
}

async function end(daemon: DaemonProcess, { force = false, keepAgents = false, timeout }: StopOptions): Promise<void> {
  if (!daemon.isAlive()) return
  process.kill(daemon.pid, force ? 'SIGKILL' : keepAgents ? 'SIGQUIT' : 'SIGTERM')
  for (const deadline = Date.now() + timeout * 1_000; daemon.isAlive(); await delay(POLL_MS)) {
    if (Date.now() < deadline) continue
    throw new AgentprotoError('timeout', `The gateway, process ${daemon.pid}, did not stop within ${timeout} s`, {
      hint: 'Kill it with: agentproto stop --force',
    })
  }
}
