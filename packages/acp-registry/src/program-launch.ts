import type { ProgramLaunch } from './distribution.js'
import type { RegistryLaunch } from './registry-entry.js'

/** A launch whose `cmd` was taken apart. */
export interface SplitLaunch extends ProgramLaunch {
  /** The first word of `cmd`. */
  readonly program?: string
}

/** Some entries have arguments in `cmd`: the words after the first blank come before `args`. */
export function splitLaunch({ cmd = '', args, env }: RegistryLaunch): SplitLaunch {
  const [program, ...more] = cmd.split(' ').filter((word) => word !== '')
  return { ...(program === undefined ? {} : { program }), args: [...more, ...args], env }
}

/** Whether a word can be the name of a program that a package brings. */
export const isProgramName = (name: string): boolean => /^[A-Za-z0-9_][A-Za-z0-9._-]{0,127}$/.test(name)

/** Whether a package manager takes a name for that of a file, in whatever folder it runs in. */
export const isFileName = (name: string): boolean => /\.(?:tgz|tar|tar\.\w+|t[bx]z2?|zip|whl|egg)$/i.test(name)
