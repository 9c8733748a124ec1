import { appendFileSync, statSync, writeSync } from 'node:fs'
import { createServer } from 'node:net'
import { optionsFrom } from './program/bounds.js'
import { homeSecret, listenAlone, socketName } from './program/home-socket.js'
import { Keeper } from './program/keeper.js'

// The program `agentproto-keeper FOLDER [OPTIONS]`: bounds and `build`, in JSON. It says `ready`,
// `taken` or `failed: REASON` on stdout once, and nothing else.

const LOG_FILE = 'faults.log'
const LOG_BYTES = 64 << 10
const LOOK_MS = 30_000

const [folder = '.', given = '{}'] = process.argv.slice(2)
const clock = {
  now: (): number => Date.now(),
  // `setTimeout` fires at once where a delay does not fit into 31 bits.
  after(ms: number, run: () => void): { cancel: () => void } {
    const timer = setTimeout(run, Math.min(ms, 2 ** 31 - 1))
    return { cancel: () => clearTimeout(timer) }
  },
}

process.chdir(folder)
// A fault in one place must not end the agents of all others.
process.on('uncaughtException', logFault)
process.on('SIGHUP', () => {})
try {
  await start()
} catch (error) {
  logFault(error)
  end(`failed: ${reasonOf(error)}`)
}

async function start(): Promise<void> {
  const server = createServer()
  // Before any gateway can find the socket.
  const secret = homeSecret()
  const number = await listenAlone(server)
  if (number === undefined) return end('taken')
  const options = { secret, ...optionsFrom(given), clock }
  const keeper = new Keeper({ ...options, onEmpty: () => process.exit() })
  server.on('connection', (socket) => keeper.accept(socket))
  const endAll = (): void => void keeper.endAll().then(() => process.exit())
  process.on('SIGTERM', endAll).on('SIGINT', endAll)
  watchSocket(socketName(number), endAll)
  say('ready')
}

/** Where the home was deleted, no gateway can ever reach the agents again. */
function watchSocket(name: string, onGone: () => void): void {
  const { ino } = statSync(name)
  const look = (): void => {
    if (statSync(name, { throwIfNoEntry: false })?.ino !== ino) return onGone()
    clock.after(LOOK_MS, look)
  }
  clock.after(LOOK_MS, look)
}

function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error ? String(error.code) : error.message
}

function end(word: string): void {
  say(word)
  process.exit()
}

/** The starter may be gone already. */
function say(word: string): void {
  try {
    writeSync(1, `${word}\n`)
  } catch {
    // No one reads it.
  }
}

/** The place of a fault, never its message, which may quote what an agent or a gateway sent. */
function logFault(error: unknown): void {
  try {
    if ((statSync(LOG_FILE, { throwIfNoEntry: false })?.size ?? 0) > LOG_BYTES) return
    const frames = error instanceof Error ? (error.stack ?? '').split('\n').filter((line) => /^ {4}at /.test(line)) : []
    const name = error instanceof Error ? error.name : typeof error
    appendFileSync(LOG_FILE, `${new Date().toISOString()} ${name}\n${frames.join('\n')}\n`, { mode: 0o600 })
  } catch {
    // There is no other place for it.
  }
}
