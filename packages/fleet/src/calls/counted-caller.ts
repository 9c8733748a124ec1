import { Caller } from './caller.js'
import type { HostCalls } from './host-calls.js'

/** Counts the calls to other hosts. */
export class CountedCaller extends Caller {
  #count = 0

  get count(): number {
    return this.#count
  }

  override to(host: string): HostCalls {
    this.#count += 1
    return super.to(host)
  }
}
