import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { newestOf } from '@agentproto/driver-agent-cli/installation'
import type { Installing, Method } from './installing.js'
import { checkPackage, requireTool, runInstaller } from './installer-command.js'
import { changePrefix } from './prefix-change.js'

/**
 * Installs an npm package into the agent's own prefix, which needs no root and no PATH. `global` is the layout
 * in it: `bin` and `lib`, as npm has them for all users.
 */
export async function installNpm(method: Method<'npm'>, installing: Installing): Promise<void> {
  const wanted = specOf(checkPackage(method.package), installing)
  const npm = await requireTool(['npm'], installing)
  await changePrefix(installing, async (folder) => {
    // Without a package of its own, npm would look for one in the folders above.
    if (!method.global) await writeFile(join(folder, 'package.json'), '{"private":true}\n')
    const args = npmInstall(wanted, folder, method.global ? ['--global'] : [])
    await runInstaller({ method: 'npm', file: npm, args }, installing)
  })
}

/** The arguments of npm that install a package below a folder. */
export const npmInstall = (wanted: string, folder: string, more: readonly string[]): readonly string[] => {
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier']
  return ['install', '--prefix', folder, ...more, ...quiet, '--', wanted]
}

/** A manifest that pins a version gets it, whatever the range says, unless the newest is asked for. */
function specOf(npmPackage: string, { range, latest = false }: Installing): string {
  if (latest) return newestOf(unpinned(npmPackage))
  const newest = newestOf(npmPackage)
  return range === undefined || newest === npmPackage ? newest : `${npmPackage}@${range}`
}

/** A scope begins with `@` too. */
const unpinned = (npmPackage: string): string => npmPackage.replace(/(?<=.)@.*$/, '')
