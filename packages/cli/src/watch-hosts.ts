import { toAgentprotoError } from '@agentproto/contracts'
import type { Host } from '@agentproto/contracts/wire'
import { isCtrl } from './attach/keyboard.js'
import { openLiveScreen } from './attach/live-screen.js'
import { paintFor, type CliContext } from './cli-context.js'
import { connect } from './daemon/connect.js'
import { QUIT } from './cockpit/cockpit-keys.js'
import { oneLine } from './render/printable.js'
import { renderHosts } from './render/hosts-table.js'

/** How often the hosts are read, in milliseconds: their heartbeats are seconds apart. */
const READ_MS = 1_000
/** Ages are shown in seconds. */
const TICK_MS = 250
const FRAME_MS = 100

/** `agentproto hosts --watch`: every host on a line, kept up to date, until q or Ctrl-C. */
export async function watchHosts(context: CliContext): Promise<void> {
  const client = await connect(context, { reconnectMs: Number.MAX_SAFE_INTEGER })
  const { stdout } = context
  const paint = paintFor(context, stdout)
  const quit = new AbortController()
  let hosts: readonly Host[] = await client.hosts()
  let problem: string | undefined
  let isReading = false
  const screen = openLiveScreen(context, {
    rows: () => {
      const { columns: width = 80, rows: height = 24 } = stdout
      const lines = renderHosts({ hosts, now: Date.now(), width, paint })
      return { live: { rows: [...lines, paint.dim(problem ?? QUIT)].slice(-height) } }
    },
    onKey: (key) => {
      if (key.name === 'q' || key.name === 'escape' || isCtrl(key, 'c')) quit.abort()
    },
    onStop: () => quit.abort(),
    frameMs: FRAME_MS,
    tickMs: TICK_MS,
  })
  const read = async (): Promise<void> => {
    if (isReading) return
    isReading = true
    try {
      hosts = await client.hosts()
      problem = undefined
    } catch (thrown) {
      problem = oneLine(toAgentprotoError(thrown).message)
    } finally {
      isReading = false
    }
    screen.update()
  }
  const reads = setInterval(() => void read(), READ_MS)
  try {
    await new Promise((resolve) => quit.signal.addEventListener('abort', resolve, { once: true }))
  } finally {
    clearInterval(reads)
    screen.close()
  }
}
