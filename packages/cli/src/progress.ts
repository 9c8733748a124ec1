import { paintOf, type Io } from './io.js'
import { duration } from './render/age.js'

const QUIET_MS = 300
const FRAME_MS = 100
const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/**
 * Tells a person at a terminal what takes long, on stderr, once it does. It leaves no trace.
 * @returns ends it; idempotent
 */
export function progress(io: Io, what: string): () => void {
  const { stderr } = io
  if (stderr.isTTY !== true) return () => undefined
  const startedAt = Date.now()
  let frame = 0
  const draw = (): void => {
    const took = Date.now() - startedAt
    if (took < QUIET_MS) return
    frame = (frame + 1) % FRAMES.length
    stderr.write(`\r\u001B[K${paintOf(io, stderr).dim(`${FRAMES[frame]} ${what} … ${duration(took)}`)}`)
  }
  const timer = setInterval(draw, FRAME_MS)
  // What it waits for keeps the process alive, not its picture.
  timer.unref()
  let isOpen = true
  return () => {
    if (!isOpen) return
    isOpen = false
    clearInterval(timer)
    if (frame > 0) stderr.write('\r\u001B[K')
  }
}

/** Does work under a progress picture. */
export async function withProgress<T>(io: Io, what: string, work: () => Promise<T>): Promise<T> {
  const done = progress(io, what)
  try {
    return await work()
  } finally {
    done()
  }
}
