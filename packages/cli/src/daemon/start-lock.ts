import { closeSync, openSync, readFileSync, rmSync, statSync, writeSync } from 'node:fs'
import { isThere } from './process-there.js'

/** Somebody who holds it for longer has died, and its process id is somebody else's. */
const STALE_MS = 90_000

/**
 * Who of many commands starts the gateway. It only saves the others the work: that a home has one gateway is
 * ensured by the gateway's own lock.
 */
export class StartLock {
  readonly #path: string
  #isMine = false

  constructor(path: string) {
    this.#path = path
  }

  /** @returns whether it is ours now */
  take(): boolean {
    if (this.#isMine) return true
    if (this.#isStale()) rmSync(this.#path, { force: true })
    try {
      const file = openSync(this.#path, 'wx', 0o600)
      writeSync(file, String(process.pid))
      closeSync(file)
      this.#isMine = true
    } catch (thrown) {
      if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown
    }
    return this.#isMine
  }

  release(): void {
    if (this.#isMine) rmSync(this.#path, { force: true })
    this.#isMine = false
  }

  #isStale(): boolean {
    try {
      const pid = Number(readFileSync(this.#path, 'utf8'))
      const age = Date.now() - statSync(this.#path).mtimeMs
      // Between its making and its writing it is empty: that is no death.
      return age > STALE_MS || (pid > 0 && !isThere(pid))
    } catch {
      return false
    }
  }
}
