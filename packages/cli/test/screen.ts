/** A screen with placeholders for what changes between runs: ids, times, folders, addresses. */
export function stable(screen: string, home: string): string {
  return (
    screen
      .replaceAll(home, '/home/me')
      .replace(/s_[0-9a-z]{8,}/g, (id) => 's_XXXXXXXX'.padEnd(id.length, 'X').slice(0, id.length))
      .replace(/\b\d+\.\d s\b/g, '0.0 s')
      .replace(/\b\d{2} s\b/g, '0.0 s')
      .replace(/[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/g, '⠋')
      .replace(
        /( +)(\d+)([smh])( ago)?(?= |$)/gm,
        // An age is aligned to the right, the time of the last output to the left.
        (_, gap: string, count: string, unit: string, ago = '') =>
          `${' '.repeat(ago === '' ? gap.length + count.length + unit.length - 2 : gap.length)}0s${ago}`,
      )
      // The room for a line depends on the width of its age.
      .replace(/( 0s ago) .*$/gm, '$1 …')
      .split('\n')
      .map((line) => line.trimEnd())
      .join('\n')
      .trimEnd()
  )
}
