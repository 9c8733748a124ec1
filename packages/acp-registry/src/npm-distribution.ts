import { defined } from '@agentproto/contracts'
import validRange from 'semver/ranges/valid.js'
import validVersion from 'semver/functions/valid.js'
import type { InstallTools, NpmDistribution } from './distribution.js'
import { isFileName, isProgramName, splitLaunch } from './program-launch.js'
import type { RegistryPackage } from './registry-entry.js'

/** A package of the npm registry by name. Addresses, folders and aliases would come from elsewhere. */
const SPEC = /^((?:@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~][a-z0-9._~-]*)(?:@([^@:/\\]*))?$/i

/** The npm package of an entry, or why it cannot be used. */
export function npmDistribution(source: RegistryPackage, { npm }: Pick<InstallTools, 'npm'>): NpmDistribution | string {
  const [, name, pin = ''] = SPEC.exec(source.package) ?? []
  const { program, args, env } = splitLaunch(source)
  if (!npm) return 'There is no npm on PATH.'
  if (name === undefined || isFileName(name))
    return `${source.package} is not the name of a package of the npm registry.`
  if (program !== undefined && !isProgramName(program)) return `${program} is not the name of a program of a package.`
  const version = versionOf(pin)
  if (version === undefined) return `${pin} is neither a version nor a tag of an npm package.`
  return { way: 'npx', name, ...version, ...defined({ program }), args, env }
}

/** An exact version, or what stands for one; neither for the newest. */
function versionOf(pin: string): Pick<NpmDistribution, 'version' | 'wanted'> | undefined {
  if (pin === '' || pin === 'latest') return {}
  const version = validVersion(pin)
  if (version !== null) return { version }
  // A tag, or a version of four parts, which npm takes for one. A dash would begin an option.
  return /^\w[\w.-]*$/.test(pin) || (!/^[-\s]/.test(pin) && validRange(pin) !== null) ? { wanted: pin } : undefined
}
