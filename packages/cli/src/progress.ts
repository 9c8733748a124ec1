import { paintFor, raw, type CliContext } from './cli-context.js'
import { duration, spinner } from './render/age.js'
import { oneLine } from './render/printable.js'

const SHOW_AFTER_MS = 300
const FRAME_MS = 100

/** Does work. When it takes long, shows a spinner on stderr at a terminal, and erases it at the end. */
export async function withProgress<T>(context: CliContext, label: string, work: () => Promise<T>): Promise<T> {
  const { stderr } = context
  if (stderr.isTTY !== true) return work()
  const startedAt = Date.now()
  const draw = (): void => {
    const elapsed = Date.now() - startedAt
    if (elapsed < SHOW_AFTER_MS) return
    const text = paintFor(context, stderr).dim(`${spinner(elapsed)} ${oneLine(label)} … ${duration(elapsed)}`)
    raw(stderr).write(`\r\u001B[K${text}`)
  }
  const timer = setInterval(draw, FRAME_MS)
  try {
    return await work()
  } finally {
    clearInterval(timer)
    if (Date.now() - startedAt >= SHOW_AFTER_MS) raw(stderr).write('\r\u001B[K')
  }
}
