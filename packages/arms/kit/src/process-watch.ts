import type { AgentProcess, EndingWatch, SpawnOptions } from '@agentproto/subprocess'

/** What becomes of the output of a process. */
export type Handlers = Omit<SpawnOptions, 'graces' | 'clock'>

/** Sees what a process does, for a measurement of it. */
export interface ProcessWatch extends EndingWatch {
  /** Longer lines of stdout are dropped, and reported with their length. */
  readonly maxLineBytes: number
  started(process: AgentProcess): void
  /** Gets the lines of stdout first, and returns those that the protocol is to get. */
  filter(lines: readonly string[]): readonly string[]
  errorOutput(lines: readonly string[]): void
  dropped(bytes: number): void
}

export function watched(handlers: Handlers, watch: ProcessWatch | undefined): Handlers {
  if (!watch) return handlers
  return {
    ...handlers,
    watch,
    maxLineBytes: watch.maxLineBytes,
    onLines: (lines) => handlers.onLines(watch.filter(lines)),
    onStderr: (lines) => {
      watch.errorOutput(lines)
      return handlers.onStderr?.(lines)
    },
    onOversize: (bytes) => {
      watch.dropped(bytes)
      handlers.onOversize?.(bytes)
    },
  }
}
