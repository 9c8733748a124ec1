import { join } from 'node:path'
import { launchHints } from '@agentproto/driver-agent-cli/installation'
import { findPython } from '../find-python.js'
import { type Installing, type Method, MethodSkipped } from './installing.js'
import { checkPackage, requireTool, runInstaller } from './installer-command.js'
import { changePrefixInPlace } from './prefix-change.js'

/**
 * Installs a Python package: with `user` into the user's own site, else into a virtual environment in the
 * agent's prefix, since systems refuse to have packages mixed with theirs (PEP 668).
 */
export async function installPip(method: Method<'pip'>, installing: Installing): Promise<void> {
  const name = pythonSpec(checkPackage(method.package), installing)
  const args = ['install', '--disable-pip-version-check', '--no-input']
  if (method.user && launchHints(installing.manifest).python === undefined) {
    const pip = await requireTool(['pip3', 'pip'], installing)
    return runInstaller({ method: 'pip', file: pip, args: [...args, '--user', name] }, installing)
  }
  const python = await requirePython(installing)
  if (method.user)
    return runInstaller({ method: 'pip', file: python, args: ['-m', 'pip', ...args, '--user', name] }, installing)
  // Its scripts hold absolute paths.
  await changePrefixInPlace(installing, async (folder) => {
    const venv = join(folder, 'venv')
    await runInstaller({ method: 'pip', file: python, args: ['-m', 'venv', venv] }, installing)
    await runInstaller(
      { method: 'pip', file: join(venv, 'bin', 'python'), args: ['-m', 'pip', ...args, name] },
      installing,
    )
  })
}

/** The package in a version that the manifest accepts, unless it pins one, or the newest is asked for. */
export function pythonSpec(pipPackage: string, { manifest, latest = false }: Installing): string {
  const [name = pipPackage] = pipPackage.split(/(?=[=<>!~])/)
  if (latest) return name
  const comparators = manifest.versionCheck.range.split(' ')
  // pip reads no other form of a semver range.
  const isPlain = comparators.every((each) => /^(?:[<>]=?|=)\d+(?:\.\d+)*$/.test(each))
  if (name !== pipPackage || !isPlain) return pipPackage
  return `${name}${comparators.map((each) => each.replace(/^=/, '==')).join()}`
}

/**
 * A Python that the agent runs on. pip would silently take an old release whose `Requires-Python` admits another one.
 * @throws {@link MethodSkipped} with the versions that there are
 */
async function requirePython(installing: Installing): Promise<string> {
  const range = launchHints(installing.manifest).python
  if (range === undefined) return requireTool(['python3', 'python'], installing)
  const { file, others } = await findPython(range, installing)
  if (file !== undefined) return file
  const there = others.length === 0 ? 'there is none on PATH' : `on PATH there is ${others.join(', ')}`
  throw new MethodSkipped(`it needs a Python in ${range}, and ${there}`)
}
