import { setTimeout as delay } from 'node:timers/promises'
import { AgentprotoError, EXIT } from '@agentproto/contracts'
import { daemonProcess, type DaemonProcess } from '../daemon/daemon-process.js'
import { homeOf } from '../daemon/daemon-record.js'
import { print, printJson, type Io } from '../io.js'
import { withProgress } from '../progress.js'

export interface StopOptions {
  readonly force?: boolean
  /** In seconds. */
  readonly timeout: number
  readonly json?: boolean
}

const LOOK_MS = 50

/** `agentproto stop`: idempotent; resolves once the process is gone. */
export async function stop(io: Io, { force = false, timeout, json }: StopOptions): Promise<number> {
  const daemon = await daemonProcess(homeOf(io))
  if (daemon !== undefined) {
    await withProgress(io, 'Stopping the gateway and its agents', () => end(daemon, { force, timeout }))
  }
  if (json === true) printJson(io, { stopped: daemon !== undefined, ...(daemon && { pid: daemon.pid }) })
  else print(io.stderr, daemon === undefined ? 'No gateway was running.' : `Stopped, process ${daemon.pid}.`)
  return EXIT.ok
}

async function end(daemon: DaemonProcess, { force, timeout }: Required<Omit<StopOptions, 'json'>>): Promise<void> {
  process.kill(daemon.pid, force ? 'SIGKILL' : 'SIGTERM')
  for (const last = Date.now() + timeout * 1_000; daemon.isAlive(); await delay(LOOK_MS)) {
    if (Date.now() < last) continue
    throw new AgentprotoError('timeout', `The gateway, process ${daemon.pid}, has not ended within ${timeout} s`, {
      hint: 'End it at once with: agentproto stop --force',
    })
  }
}
