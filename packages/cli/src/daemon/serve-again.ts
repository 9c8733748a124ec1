import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'

/**
 * A gateway that restarts: this process has left its agents, and another one of the build that is installed now takes its place,
 * with the same arguments, environment, and output.
 */

/** The gateway was started by `serve --detach`, or by a command that needed one. No program waits for its process. */
export const IN_BACKGROUND = 'AGENTPROTO_SERVE_IN_BACKGROUND'
/** The gateway took the place of its parent, which waits for it, and starts the next one. Its value is the parent's pid. */
const IN_PLACE_OF = 'AGENTPROTO_SERVE_IN_PLACE_OF'

/** Exit code by which a gateway asks its parent for the next one. */
const AGAIN = 75

/** Signals that the parent passes on. In a terminal Ctrl-C reaches both; the gateway ignores the second. */
const RELAYED = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGUSR2'] as const

/** Whether a parent waits for this gateway. */
const hasParent = (): boolean =>
  process.env[IN_PLACE_OF] !== undefined && process.env[IN_PLACE_OF] === String(process.ppid)

/** Calls back when the parent that waits for this gateway was killed: its terminal or service manager has lost it. */
export function onParentGone(callback: () => void): void {
  if (!hasParent() || process.channel === undefined) return
  process.once('disconnect', callback)
  // A listener would keep the process alive.
  process.channel.unref()
}

/**
 * Starts the next gateway. In the background it replaces this process. Else the terminal or the service manager knows this
 * process, which therefore stays, and starts each further one.
 * @returns the exit code of this process
 */
export async function serveAgain(): Promise<number> {
  if (process.env[IN_BACKGROUND] !== undefined) return leaveTo(launch({ isDetached: true }))
  if (hasParent()) return AGAIN
  for (;;) {
    const code = await endOf(launch({ isDetached: false }))
    if (code !== AGAIN) return code
  }
}

function launch({ isDetached }: { readonly isDetached: boolean }): ChildProcess {
  return spawn(process.execPath, [...process.execArgv, ...process.argv.slice(1)], {
    detached: isDetached,
    // The channel ends with this process, however it ends.
    stdio: isDetached ? 'inherit' : ['inherit', 'inherit', 'inherit', 'ipc'],
    env: isDetached ? process.env : { ...process.env, [IN_PLACE_OF]: String(process.pid) },
  })
}

async function leaveTo(next: ChildProcess): Promise<number> {
  await once(next, 'spawn')
  next.unref()
  return 0
}

async function endOf(gateway: ChildProcess): Promise<number> {
  const relay = (signal: NodeJS.Signals): void => void gateway.kill(signal)
  for (const signal of RELAYED) process.on(signal, relay)
  try {
    const [code, signal] = (await once(gateway, 'exit')) as [number | null, NodeJS.Signals | null]
    return code ?? 128 + (signal === null ? 0 : constants.signals[signal])
  } finally {
    for (const signal of RELAYED) process.off(signal, relay)
  }
}
