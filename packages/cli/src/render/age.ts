const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** How long ago an ISO date was, in the largest whole unit: `45s`, `12m`, `3h`, `9d`. */
export function ageSince(at: string, now = Date.now()): string {
  const ms = now - Date.parse(at)
  const [unit, size] = UNITS.find(([, each]) => ms >= each) ?? UNITS[3]
  return `${Math.max(0, Math.floor(ms / size))}${unit}`
}

/** A duration in milliseconds, more exactly: `0.4 s`, `12 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 10_000) return `${(Math.max(0, ms) / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** The frame of a spinner at this time, in milliseconds. */
export const spinner = (ms: number): string => FRAMES[Math.floor(ms / 100) % FRAMES.length] ?? ''
