const UNITS = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'] as const

/** A size for people, such as `12.5 KiB`: what is small is not shown as nothing. */
export function byteCount(bytes: number): string {
  let [size, unit] = [bytes, 0]
  while (size >= 1_024 && unit < UNITS.length - 1) [size, unit] = [size / 1_024, unit + 1]
  return `${unit === 0 ? size : size.toFixed(1)} ${bytes === 1 ? 'byte' : UNITS[unit]}`
}
