/** Draws that follow a flood of changes, at most one in so many milliseconds. */
export interface Paced {
  /** Draws soon, unless it is about to anyway. */
  soon(): void
  cancel(): void
}

export function paced(draw: () => void, everyMs: number): Paced {
  let timer: NodeJS.Timeout | undefined
  return {
    soon() {
      timer ??= setTimeout(() => {
        timer = undefined
        draw()
      }, everyMs)
    },
    cancel: () => clearTimeout(timer),
  }
}
