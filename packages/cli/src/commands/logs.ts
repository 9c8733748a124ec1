import { setTimeout as delay } from 'node:timers/promises'
import { EXIT } from '@agentproto/contracts'
import type { Define } from '../cli-command.js'
import { pass, print, type CliContext } from '../cli-context.js'
import { type JsonOption, toCount } from '../command-definition.js'
import { daemonLog, gatewayLog, readFrom, sizeOf, tailOf } from '../daemon/daemon-log.js'
import { homeOf } from '../daemon/daemon-record.js'
import { interruptible } from '../signals.js'

const HELP = `
Examples:
  $ agentproto logs -n 20
  $ agentproto logs -f
  $ agentproto logs --json -n 50

The output of the gateway in the background. The output of a session: agentproto sessions logs <id>`

interface LogsOptions extends JsonOption {
  readonly lines: number
  readonly follow?: boolean
}

/** The log is polled: some file systems do not report changes. */
const POLL_MS = 100

export const define: Define = (command) =>
  command
    .description('print the log of the gateway')
    .option('-n, --lines <count>', 'number of lines, from the end', toCount, 200)
    .option('-f, --follow', 'print new lines until Ctrl-C')
    .json('the structured log instead, one JSON document per line')
    .addHelpText('after', HELP)
    .run(printLog)

async function printLog(context: CliContext, { lines, follow, json }: LogsOptions): Promise<number> {
  const { stdout, stderr } = context
  const path = json === true ? gatewayLog(homeOf(context)) : daemonLog(homeOf(context))
  // Taken first, so that no line that is written meanwhile is lost or repeated.
  const size = sizeOf(path)
  const tail = tailOf(path, lines, size)
  if (tail.length > 0) print(stdout, tail)
  else if (follow !== true) print(stderr, `${path} is empty. A gateway in the foreground logs to its own terminal.`)
  if (follow !== true) return EXIT.ok
  return interruptible((signal) => followFile({ path, from: size }, (text) => pass(stdout, text), signal))
}

/** Passes on what is appended to a file, until the signal aborts. A rotated file is followed into its successor. */
async function followFile(
  { path, from }: { readonly path: string; readonly from: number },
  write: (text: string) => void,
  signal: AbortSignal,
): Promise<number> {
  for (let at = from; !signal.aborted; await delay(POLL_MS)) {
    const size = sizeOf(path)
    if (size < at) at = 0
    if (size > at) write(readFrom(path, at, size))
    at = size
  }
  return EXIT.interrupted
}
