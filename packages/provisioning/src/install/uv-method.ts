import { join } from 'node:path'
import { launchHints } from '@agentproto/driver-agent-cli/installation'
import type { Installing, Method } from './installing.js'
import { checkPackage, requireTool, runInstaller } from './installer-command.js'
import { pythonSpec } from './pip-method.js'
import { changePrefixInPlace } from './prefix-change.js'

/** Installs a Python package with `uv tool`, in an environment in the agent's prefix. uv can also fetch the Python that it needs. */
export async function installUv(method: Method<'uv'>, installing: Installing): Promise<void> {
  const name = pythonSpec(checkPackage(method.package), installing)
  const uv = await requireTool(['uv'], installing)
  const { python } = launchHints(installing.manifest)
  // uv reads the comparators of a semver range, with commas between them.
  const args = [
    'tool',
    'install',
    '--no-progress',
    ...(python === undefined ? [] : ['--python', python.replaceAll(' ', ',')]),
  ]
  // Its scripts hold absolute paths.
  await changePrefixInPlace(installing, async (folder) => {
    const env = { UV_TOOL_DIR: join(folder, 'tools'), UV_TOOL_BIN_DIR: join(folder, 'bin') }
    await runInstaller({ method: 'uv', file: uv, args: [...args, name], env }, installing)
  })
}
