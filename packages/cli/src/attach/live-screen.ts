import type { CliContext } from '../cli-context.js'
import { type Key, openKeyboard } from './keyboard.js'
import { LiveArea, type LiveRows } from './live-area.js'

interface LiveScreenOptions {
  /** The rows that are finished since the last call, and the live rows below them. */
  readonly rows: () => { readonly finished?: readonly string[]; readonly live: LiveRows }
  readonly onKey: (key: Key) => void
  /** SIGTERM. */
  readonly onStop: () => void
  /** At most one frame per interval, in milliseconds, at any rate of changes. */
  readonly frameMs: number
  /** A frame without changes, in milliseconds: ages and spinners change by themselves. */
  readonly tickMs: number
}

/** Draws rows at the bottom of the terminal, and passes on its keys. */
export function openLiveScreen({ stdin, stdout }: CliContext, options: LiveScreenOptions) {
  const area = new LiveArea(stdout)
  let shown: Shown | undefined
  let isOpen = true
  function draw(): void {
    if (shown === undefined) return
    const { finished = [], live } = options.rows()
    area.draw(finished, live)
  }
  function show(): void {
    const keyboard = openKeyboard({ stdin, output: stdout }, (key) => {
      options.onKey(key)
      draw()
    })
    shown = { keyboard, ticks: setInterval(draw, options.tickMs) }
    stdout.on('resize', draw)
  }
  function hide(last: readonly string[] = []): void {
    if (shown === undefined) return
    clearTimeout(shown.frame)
    clearInterval(shown.ticks)
    stdout.off('resize', draw)
    shown.keyboard.close()
    area.close(last)
    shown = undefined
  }
  process.once('SIGTERM', options.onStop)
  show()
  return {
    /** Draws soon; many calls give one frame. */
    update() {
      const current = shown
      if (current === undefined) return
      current.frame ??= setTimeout(() => {
        delete current.frame
        draw()
      }, options.frameMs)
    },
    /** Gives the terminal to something else, such as a pager, and shows the screen again after it. */
    async lend<T>(use: () => Promise<T>): Promise<T> {
      hide(options.rows().finished ?? [])
      try {
        return await use()
      } finally {
        if (isOpen) {
          show()
          draw()
        }
      }
    },
    /** Erases the live rows and prints the last ones. */
    close(last = options.rows().finished ?? []) {
      isOpen = false
      process.off('SIGTERM', options.onStop)
      hide(last)
    },
  }
}

interface Shown {
  readonly keyboard: { close(): void }
  readonly ticks: NodeJS.Timeout
  frame?: NodeJS.Timeout
}
