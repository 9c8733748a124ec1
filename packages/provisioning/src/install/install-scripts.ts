import { access, readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { asRecord, asString, parseJson } from '@agentproto/contracts'

/**
 * The packages below an npm prefix that have scripts which npm runs when it installs them, as `name@version`, sorted. It reads the
 * packages themselves: what a registry says of them may be wrong, and for all users npm writes nothing down.
 */
export async function packagesWithScripts(folder: string): Promise<readonly string[]> {
  const found: string[] = []
  const folders = NODE_MODULES.map((modules) => join(folder, modules))
  for (let next = folders.pop(); next !== undefined && found.length < PACKAGES_MAX; next = folders.pop()) {
    for (const at of await packageFolders(next)) {
      const name = await scriptedPackage(at)
      if (name !== undefined) found.push(name)
      folders.push(join(at, 'node_modules'))
    }
  }
  return [...new Set(found)].toSorted()
}

/** npm's layouts: for one project, and for all users. */
const NODE_MODULES = ['node_modules', 'lib/node_modules']
/** Run when a package is installed from a registry. */
const SCRIPTS = ['preinstall', 'install', 'postinstall']
const PACKAGES_MAX = 1_000

/** The folders of packages in one `node_modules`, those of scopes included. Links are npm's own. */
async function packageFolders(modules: string): Promise<readonly string[]> {
  const entries = await readdir(modules, { withFileTypes: true }).catch(() => [])
  const folders = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith('.')).map(({ name }) => name)
  const scopes = folders.filter((name) => name.startsWith('@')).map((name) => packageFolders(join(modules, name)))
  return [
    ...folders.filter((name) => !name.startsWith('@')).map((name) => join(modules, name)),
    ...(await Promise.all(scopes)).flat(),
  ]
}

async function scriptedPackage(at: string): Promise<string | undefined> {
  const { name, version, scripts } = asRecord(
    parseJson(await readFile(join(at, 'package.json'), 'utf8').catch(() => '')),
  )
  // npm builds a package with this file, even if it has no script.
  const isBuilt = await access(join(at, 'binding.gyp')).then(
    () => true,
    () => false,
  )
  if (!isBuilt && !SCRIPTS.some((script) => asString(asRecord(scripts)[script]))) return undefined
  return printable(`${asString(name) ?? at}@${asString(version) ?? '?'}`)
}

const printable = (text: string): string => text.replaceAll(/[^\x20-\x7E]/g, '?').slice(0, 200)
