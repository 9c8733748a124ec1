/** Calls that follow many changes, at most one per interval. */
export interface Throttled {
  /** Calls after the interval, unless a call is already scheduled. */
  soon(): void
  cancel(): void
}

export function throttled(call: () => void, everyMs: number): Throttled {
  let timer: NodeJS.Timeout | undefined
  return {
    soon() {
      timer ??= setTimeout(() => {
        timer = undefined
        call()
      }, everyMs)
    },
    cancel: () => clearTimeout(timer),
  }
}
