import { toAgentprotoError } from '@agentproto/contracts'
import { openLiveScreen } from './attach/live-screen.js'
import { paintFor, type CliContext } from './cli-context.js'
import { connect } from './daemon/connect.js'
import { HostsScreen } from './hosts-screen.js'
import { oneLine } from './render/printable.js'

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
  const hosts = new HostsScreen(await client.hosts())
  let isReading = false
  const screen = openLiveScreen(context, {
    rows: () => {
      const { columns: width = 80, rows: height = 24 } = stdout
      return { live: { rows: hosts.rows({ width, height, paint, now: Date.now() }) } }
    },
    onKey: (key) => {
      if (hosts.key(key)) quit.abort()
    },
    onStop: () => quit.abort(),
    frameMs: FRAME_MS,
    tickMs: TICK_MS,
  })
  const read = async (): Promise<void> => {
    if (isReading) return
    isReading = true
    try {
      hosts.show(await client.hosts())
    } catch (thrown) {
      hosts.fail(oneLine(toAgentprotoError(thrown).message))
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
