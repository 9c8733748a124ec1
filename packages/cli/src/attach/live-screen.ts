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
  let frame: NodeJS.Timeout | undefined
  let isOpen = true
  function draw(): void {
    const { finished = [], live } = options.rows()
    area.draw(finished, live)
  }
  const keyboard = openKeyboard({ stdin, output: stdout }, (key) => {
    options.onKey(key)
    draw()
  })
  const ticks = setInterval(draw, options.tickMs)
  stdout.on('resize', draw)
  process.once('SIGTERM', options.onStop)
  return {
    /** Draws soon; many calls give one frame. */
    update() {
      if (!isOpen) return
      frame ??= setTimeout(() => {
        frame = undefined
        draw()
      }, options.frameMs)
    },
    /** Erases the live rows and prints the last ones. */
    close(last = options.rows().finished ?? []) {
      isOpen = false
      clearTimeout(frame)
      clearInterval(ticks)
      stdout.off('resize', draw)
      process.off('SIGTERM', options.onStop)
      keyboard.close()
      area.close(last)
    },
  }
}
