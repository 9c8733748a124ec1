import { parse, serialize } from 'tinyduration'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * An ISO-8601 duration in milliseconds. A month counts as 30 days and a year as 365: they have no fixed length. Undefined for
 * anything else, for zero, and for a fraction that is not of the last number.
 */
export function durationMs(text: string): number | undefined {
  const duration = parsed(text)
  if (duration === undefined || text.includes('-') || /\.\d+\D+\d/.test(text)) return undefined
  const { years = 0, months = 0, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0 } = duration
  const ms =
    (years * 365 + months * 30 + weeks * 7 + days) * DAY_MS + hours * HOUR_MS + minutes * 60_000 + seconds * 1_000
  return ms === 0 ? undefined : ms
}

/** The library also accepts text before and after a duration: what it read must be all of the text. */
function parsed(text: string): ReturnType<typeof parse> | undefined {
  try {
    const duration = parse(text)
    return serialize(duration) === text ? duration : undefined
  } catch {
    return undefined
  }
}
