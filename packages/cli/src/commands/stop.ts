import { setTimeout as delay } from 'node:timers/promises'
import { AgentprotoError } from '@agentproto/contracts'
import type { CommandResult, Define } from '../cli-command.js'
import type { CliContext } from '../cli-context.js'
import { toSeconds } from '../command-definition.js'
import { daemonProcess, type DaemonProcess } from '../daemon/daemon-process.js'
import { homeOf } from '../daemon/daemon-record.js'
import { withProgress } from '../progress.js'

const HELP = `
Examples:
  $ agentproto stop
  $ agentproto stop --force            kill it, when it does not stop

It returns when the gateway and all its agents have ended. Resumable sessions continue after the next start.`

interface StopOptions {
  readonly force?: boolean
  /** In seconds. */
  readonly timeout: number
}

const POLL_MS = 50

export const define: Define = (command) =>
  command
    .description('stop the gateway of this home, and all its agents')
    .option('--force', 'kill it at once; the next start ends its agents')
    .option('--timeout <seconds>', 'how long to wait for it', toSeconds, 60)
    .json()
    .addHelpText('after', HELP)
    .run(stop)

async function stop(context: CliContext, options: StopOptions): Promise<CommandResult> {
  const home = homeOf(context)
  const daemon = await daemonProcess(home)
  // A newer agentproto may lock its home in another way.
  if (daemon === undefined) (await import('@agentproto/server/home')).assertHomeReadable(home.root)
  if (daemon === undefined) return { json: { stopped: false }, note: 'No gateway was running.' }
  await withProgress(context, 'Stopping the gateway and its agents', () => end(daemon, options))
  return { json: { stopped: true, pid: daemon.pid }, note: `Stopped process ${daemon.pid}.` }
}

async function end(daemon: DaemonProcess, { force = false, timeout }: StopOptions): Promise<void> {
  process.kill(daemon.pid, force ? 'SIGKILL' : 'SIGTERM')
  for (const deadline = Date.now() + timeout * 1_000; daemon.isAlive(); await delay(POLL_MS)) {
    if (Date.now() < deadline) continue
    throw new AgentprotoError('timeout', `The gateway, process ${daemon.pid}, did not stop within ${timeout} s`, {
      hint: 'Kill it with: agentproto stop --force',
    })
  }
}
