import type { InstallTools, PythonDistribution } from './distribution.js'
import { isFileName, isProgramName, splitLaunch } from './program-launch.js'
import type { RegistryPackage } from './registry-entry.js'

/** PEP 508: name, extras, and what follows. uvx also writes a version after `@`. */
const SPEC = /^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)(\[[A-Za-z0-9._,-]+\])?(.*)$/
const VERSION = '[A-Za-z0-9][A-Za-z0-9.!+_-]*'
const EXACT = new RegExp(`^(?:@|===?)(${VERSION})$`)
const RANGE = new RegExp(`^(?:[<>]=?|~=|!=|==)${VERSION}(?:\\.\\*)?(?:,(?:[<>]=?|~=|!=|==)${VERSION}(?:\\.\\*)?)*$`)

/** The Python package of an entry, or why it cannot be used. */
export function pythonDistribution(
  source: RegistryPackage,
  { uv, python }: Pick<InstallTools, 'uv' | 'python'>,
): PythonDistribution | string {
  const [, bare, extras = '', pin = ''] = SPEC.exec(source.package) ?? []
  if (!uv && !python) return 'There is neither uv nor Python on PATH.'
  if (bare === undefined || isFileName(bare)) return `${source.package} is not the name of a Python package.`
  const version = versionOf(pin)
  if (version === undefined) return `${pin} is not a version of a Python package.`
  // uvx starts the program with the name of the package.
  const { program = bare, args, env } = splitLaunch(source)
  if (!isProgramName(program)) return `${program} is not the name of a program of a package.`
  return { way: 'uvx', name: `${bare}${extras}`, ...version, program, args, env }
}

/** An exact version, or what stands for one; neither for the newest. */
function versionOf(pin: string): Pick<PythonDistribution, 'version' | 'wanted'> | undefined {
  if (pin === '' || pin === '@latest') return {}
  const version = EXACT.exec(pin)?.[1]
  if (version !== undefined) return { version }
  return RANGE.test(pin) ? { wanted: pin } : undefined
}
