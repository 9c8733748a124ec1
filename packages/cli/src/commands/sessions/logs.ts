import type { OutputLine } from '@agentproto/contracts'
import type { Define } from '../../cli-command.js'
import { paintFor, print, type CliContext } from '../../cli-context.js'
import { type JsonOption, toCount } from '../../command-definition.js'
import { printable } from '../../render/printable.js'
import { openSession } from '../../session-ref.js'
import { interruptible } from '../../signals.js'

interface LogsOptions extends JsonOption {
  readonly lines: number
  readonly follow?: boolean
}

/** The gateway keeps this many lines of a session. */
const KEPT_LINES = 2_000

export const define: Define = (command) =>
  command
    .description('print the output of a session')
    .argument('<id>')
    .option('-n, --lines <count>', 'number of lines, from the end', toCount, 200)
    .option('-f, --follow', 'print new lines until the session ends')
    .json('one JSON document per line')
    .examples('sessions logs try -n 20', 'sessions logs try -f')
    .run(printLogs)

async function printLogs(context: CliContext, ref: string, options: LogsOptions): Promise<number | void> {
  const { client, session } = await openSession(context, ref)
  const { lines, follow } = options
  const printLine = linePrinter(context, options)
  if (follow !== true) {
    for (const line of await client.sessions.output(session.id, Math.min(KEPT_LINES, lines))) printLine(line)
    return
  }
  return interruptible(async (signal) => {
    let skip = Math.max(0, (await client.sessions.output(session.id, KEPT_LINES)).length - lines)
    for await (const item of client.sessions.stream(session.id, { signal })) {
      if (item.type !== 'line') continue
      if (skip > 0) skip -= 1
      else printLine(item.line)
    }
  })
}

function linePrinter(context: CliContext, { json }: LogsOptions): (line: OutputLine) => void {
  const { stdout } = context
  if (json === true) return (line) => print(stdout, JSON.stringify(line))
  const paint = paintFor(context, stdout)
  return ({ line, stream }) => print(stdout, (stream === 'stderr' ? paint.dim : String)(printable(line)))
}
