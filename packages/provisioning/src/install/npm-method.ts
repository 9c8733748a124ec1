import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { launchHints, newestOf } from '@agentproto/driver-agent-cli/installation'
import type { Installing, Method } from './installing.js'
import { checkPackage, requireTool, runInstaller } from './installer-command.js'
import { packagesWithScripts } from './install-scripts.js'
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
    const skips = launchHints(installing.manifest).installScripts === 'skip'
    const more = [...(method.global ? ['--global'] : []), ...(skips ? ['--ignore-scripts'] : [])]
    await runInstaller({ method: 'npm', file: npm, args: npmInstall(wanted, folder, more) }, installing)
    if (skips) await reportScripts(folder, installing)
  })
}

/** Many packages work without their scripts, so that an agent is not refused for having some. */
async function reportScripts(folder: string, { manifest, emit }: Installing): Promise<void> {
  const packages = await packagesWithScripts(folder)
  if (packages.length === 0) return
  const [shown, more] = [packages.slice(0, SCRIPTS_SHOWN), packages.length - SCRIPTS_SHOWN]
  emit({
    type: 'warning',
    message:
      `The install scripts of ${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''} were not run. ` +
      `If ${manifest.id} does not work without them, read them, set \`install_scripts: run\` in its manifest, and install it again.`,
  })
}

const SCRIPTS_SHOWN = 20

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
