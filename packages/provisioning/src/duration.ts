const DURATION = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/
const UNITS_MS = [7 * 86_400_000, 86_400_000, 3_600_000, 60_000, 1_000]

/** An ISO-8601 duration of weeks, days and less in milliseconds; undefined for one that is none, or is empty. */
export function durationMs(text: string): number | undefined {
  const match = DURATION.exec(text)
  if (match === null) return undefined
  const ms = UNITS_MS.reduce((sum, unit, index) => sum + unit * Number(match[index + 1] ?? 0), 0)
  return ms > 0 ? ms : undefined
}
