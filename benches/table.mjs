// One table of all figures: value, ratio to what it is compared with, goal. A missed goal is marked; it fails no build.

export const ms = (value) => `${value.toFixed(value < 1 ? 3 : 1)} ms`
export const mb = (value) => `${value.toFixed(0)} MB`
export const k = (value) => `${(value / 1_000).toFixed(0)} k/s`
export const percent = (value) => `${value.toFixed(1)} %`
export const times = (value) => `x${value.toFixed(2)}`

/**
 * @param most or `least`: the goal; without either the row is for information
 * @param of what the ratio compares with
 */
export function row(name, value, { most, least, unit, of }) {
  const ratio = of === undefined ? '' : times(value / of)
  if (most === undefined && least === undefined) return [name, unit(value), ratio, '', '']
  const met = most === undefined ? value >= least : value <= most
  const goal = most === undefined ? `≥ ${unit(least)}` : `≤ ${unit(most)}`
  return [name, unit(value), ratio, goal, met ? 'met' : 'MISSED']
}

export function printTable(rows) {
  const all = [['what', 'measured', 'ratio', 'goal', ''], ...rows]
  const widths = all[0].map((_, column) => Math.max(...all.map((cells) => cells[column].length)))
  for (const cells of all)
    console.log(
      cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))).join('   '),
    )
}
