import { cut } from '../render/fit.js'
import type { Frame } from '../render/paint.js'
import { oneLine } from '../render/printable.js'

/** More prompts than anybody reads before they are sent. */
const MAX_PROMPTS = 100
const SHOWN_PROMPTS = 2

/**
 * Prompts that wait in this terminal for the end of a turn. After a turn that did not end by itself the queue waits for the
 * person: what stood behind a stopped turn must not start by itself.
 */
export class PromptQueue {
  readonly #prompts: string[] = []
  #isHeld = false

  get isEmpty(): boolean {
    return this.#prompts.length === 0
  }

  /** Whether it waits for the person. */
  get isHeld(): boolean {
    return this.#isHeld && !this.isEmpty
  }

  get prompts(): readonly string[] {
    return this.#prompts
  }

  /** @returns false if it is full */
  add(prompt: string): boolean {
    if (this.#prompts.length >= MAX_PROMPTS) return false
    // An empty queue has nothing that waits.
    if (this.isEmpty) this.#isHeld = false
    this.#prompts.push(prompt)
    return true
  }

  /** Puts a prompt that could not be sent before all others, and waits for the person. */
  putBack(prompt: string): void {
    this.#prompts.unshift(prompt)
    this.#isHeld = true
  }

  /** Takes the prompt that comes next. */
  next(): string | undefined {
    return this.#prompts.shift()
  }

  /** Takes the prompt that was added last. */
  takeBack(): string | undefined {
    return this.#prompts.pop()
  }

  /** Removes the first prompt if it has this text. @returns whether it had */
  dropFirst(prompt: string): boolean {
    if (this.#prompts[0] !== prompt) return false
    this.#prompts.shift()
    return true
  }

  hold(): void {
    if (!this.isEmpty) this.#isHeld = true
  }

  release(): void {
    this.#isHeld = false
  }

  /** At most four rows: how many wait, the next ones, and how many more. */
  rows({ paint, width }: Frame): string[] {
    const [first] = this.#prompts
    if (first === undefined) return []
    const count = this.#prompts.length
    const title = this.#isHeld ? `${count} not sent · Enter sends` : `${count} queued`
    const shown = this.#prompts.slice(0, count === SHOWN_PROMPTS + 1 ? count : SHOWN_PROMPTS)
    const more = count - shown.length
    return [
      (this.#isHeld ? paint.yellow : paint.dim)(cut(`${title} · Ctrl-T takes the last one back`, width)),
      ...shown.map((prompt) => paint.dim(cut(`  ⋯ ${oneLine(prompt.slice(0, 4 * width))}`, width))),
      ...(more === 0 ? [] : [paint.dim(cut(`  ⋯ and ${more} more`, width))]),
    ]
  }
}
