import { InvalidArgumentError } from 'commander'

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** Parses `30d`, `12h` or `90m`. A bare number is refused: it could mean days or seconds. */
export function toMilliseconds(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  if (count === undefined || unit === undefined) throw new InvalidArgumentError('Write it as 30d, 12h or 90m.')
  return Number(count) * (UNITS[unit] ?? 0)
}
