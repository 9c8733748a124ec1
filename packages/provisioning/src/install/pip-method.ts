import { join } from 'node:path'
import type { Installing, Method } from './installing.js'
import { checkPackage, requireTool, runInstaller } from './installer-command.js'
import { changePrefixInPlace } from './prefix-change.js'

/**
 * Installs a Python package: with `user` into the user's own site, else into a virtual environment in the
 * agent's prefix, since systems refuse to have packages mixed with theirs (PEP 668).
 */
export async function installPip(method: Method<'pip'>, installing: Installing): Promise<void> {
  const name = checkPackage(method.package)
  const args = ['install', '--disable-pip-version-check', '--no-input']
  if (method.user) {
    const pip = await requireTool(['pip3', 'pip'], installing)
    return runInstaller({ method: 'pip', file: pip, args: [...args, '--user', name] }, installing)
  }
  const python = await requireTool(['python3', 'python'], installing)
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
