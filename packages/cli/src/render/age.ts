const UNITS = [
  ['d', 86_400_000],
  ['h', 3_600_000],
  ['m', 60_000],
  ['s', 1_000],
] as const

/** A duration in milliseconds, in its largest whole unit: `45s`, `12m`, `3h`, `9d`. */
export function age(ms: number): string {
  const [unit, size] = UNITS.find(([, each]) => ms >= each) ?? UNITS[3]
  return `${Math.max(0, Math.floor(ms / size))}${unit}`
}

/** The age of what happened at this time, an ISO date. */
export const ageSince = (at: string, now = Date.now()): string => age(now - Date.parse(at))

/** A more exact duration: `0.4 s`, `12 s`, `3 min 5 s`. */
export function duration(ms: number): string {
  if (ms < 10_000) return `${(Math.max(0, ms) / 1_000).toFixed(1)} s`
  const seconds = Math.round(ms / 1_000)
  return seconds < 60 ? `${seconds} s` : `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']

/** The frame of a spinner at this time, in milliseconds. */
export const spinner = (ms: number): string => FRAMES[Math.floor(ms / 100) % FRAMES.length] ?? ''
