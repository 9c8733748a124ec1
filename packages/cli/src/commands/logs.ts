import { watch } from 'node:fs'
import { EXIT } from '@agentproto/contracts'
import { daemonLog, gatewayLog, readFrom, sizeOf, tailOf } from '../daemon/daemon-log.js'
import { homeOf } from '../daemon/daemon-record.js'
import { print, type Io } from '../io.js'
import { interruptible } from '../signals.js'

export interface LogsOptions {
  readonly lines: number
  readonly follow?: boolean
  readonly json?: boolean
}

/** Some file systems tell nobody of a change; then the log is looked at this often, in milliseconds. */
const LOOK_MS = 500

/** `agentproto logs`. */
export async function logs(io: Io, { lines, follow, json }: LogsOptions): Promise<number> {
  const path = json === true ? gatewayLog(homeOf(io)) : daemonLog(homeOf(io))
  // What comes while the tail is read is neither lost nor said twice.
  const size = sizeOf(path)
  const tail = tailOf(path, lines, size)
  if (tail.length > 0) print(io.stdout, tail)
  else if (follow !== true) print(io.stderr, `Nothing yet in ${path}. A gateway in the foreground says it there.`)
  if (follow !== true) return EXIT.ok
  return interruptible((signal) => followFile({ path, from: size }, (text) => io.stdout.write(text), signal))
}

/** What is added to a file, until the signal aborts. A file that is put aside is followed into its successor. */
function followFile(
  { path, from }: { readonly path: string; readonly from: number },
  take: (text: string) => void,
  signal: AbortSignal,
): Promise<number> {
  let at = from
  function look(): void {
    const size = sizeOf(path)
    if (size < at) at = 0
    if (size === at) return
    take(readFrom(path, at, size))
    at = size
  }
  return new Promise((resolve) => {
    const timer = setInterval(look, LOOK_MS)
    const watcher = watchIfThere(path, look)
    look()
    signal.addEventListener('abort', onAbort, { once: true })
    function onAbort(): void {
      clearInterval(timer)
      watcher?.close()
      resolve(EXIT.interrupted)
    }
  })
}

function watchIfThere(path: string, look: () => void): ReturnType<typeof watch> | undefined {
  try {
    return watch(path, look).on('error', () => undefined)
  } catch {
    return undefined
  }
}
