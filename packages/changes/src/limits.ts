export interface ChangeLimits {
  /** A larger file is left out; bytes. */
  readonly fileBytes: number
  /** Files of one folder. Above it, its largest folders are left out. */
  readonly files: number
  /** New content of one checkpoint in bytes. Above it, the largest folders are left out. */
  readonly bytes: number
  /** What a checkpoint leaves free where the home is, in bytes: an agent that changes much each turn must not fill the disk. */
  readonly freeBytes: number
  /** For one checkpoint, list or patch, in milliseconds; a rewind and a prune may take five times as long. */
  readonly timeMs: number
}

export const DEFAULT_LIMITS: ChangeLimits = {
  fileBytes: 10 << 20,
  files: 200_000,
  bytes: 1 << 30,
  freeBytes: 512 << 20,
  timeMs: 60_000,
}
