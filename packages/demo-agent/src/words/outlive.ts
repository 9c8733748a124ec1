import { spawn } from 'node:child_process'
import type { Turn } from '../turn.js'

/** A grandchild ends by itself after this, so that a failed test leaves no process. */
const GRANDCHILD_SECONDS = 600

export function stubborn(turn: Turn): void {
  turn.lifecycle.becomeStubborn()
  turn.say('I will not go.')
}

/** The grandchild of a stubborn agent ignores SIGTERM too. */
export function fork(turn: Turn): void {
  const ignored = turn.lifecycle.stubborn ? ['SIGTERM', 'SIGINT', 'SIGHUP'] : []
  const ignore = `for (const signal of ${JSON.stringify(ignored)}) process.on(signal, () => {})`
  const code = `${ignore}; setTimeout(() => {}, ${GRANDCHILD_SECONDS * 1000})`
  const child = spawn(process.execPath, ['-e', code], { detached: true, stdio: 'ignore' })
  child.once('error', () => {})
  child.unref()
  turn.say(`grandchild ${child.pid}`)
}
