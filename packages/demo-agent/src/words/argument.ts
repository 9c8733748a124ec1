/** The first number of an argument as a whole one within bounds; `standard` where there is none. */
export function wholeNumber(argument: string | undefined, standard: number, max: number): number {
  const value = Number.parseInt(argument ?? '', 10)
  return Number.isNaN(value) ? standard : Math.min(Math.max(value, 0), max)
}

/** The first word of an argument, and the rest. */
export function firstAndRest(argument: string): readonly [first: string, rest: string] {
  const [, first = '', rest = ''] = /^(\S*)\s*([^]*)$/.exec(argument) ?? []
  return [first, rest]
}
