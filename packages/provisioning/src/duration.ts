import { parse, serialize } from 'tinyduration'

const DAY_MS = 86_400_000

/** An ISO-8601 duration of weeks, days, hours, minutes and seconds in milliseconds; undefined for anything else, or zero. */
export function durationMs(text: string): number | undefined {
  const duration = parsed(text)
  if (duration === undefined) return undefined
  const { years, months, weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0 } = duration
  // Years and months have no fixed length. A fraction is only read of seconds, and nothing may be negative.
  if (years !== undefined || months !== undefined || ![weeks, days, hours, minutes].every(Number.isInteger))
    return undefined
  const ms = (weeks * 7 + days) * DAY_MS + hours * 3_600_000 + minutes * 60_000 + seconds * 1_000
  return text.includes('-') || ms === 0 ? undefined : ms
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
