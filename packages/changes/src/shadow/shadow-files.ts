import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { asRecord, asString, parseJson } from '@agentproto/contracts'
import { codeOf } from '../git-errors.js'

/** The files of a shadow repository: `git/` and `folder.json`, which names the folder. */
export interface ShadowPlace {
  /** `checkpoints/<digest>` of the home. */
  readonly shadow: string
  readonly folder: string
}

export const gitDirOf = (shadow: string): string => join(shadow, 'git')

/** Creates the repository if there is none. Not with `git init`, whose templates and defaults are the user's. */
export async function createShadow({ shadow, folder }: ShadowPlace): Promise<void> {
  if (await exists(join(shadow, 'folder.json'))) return
  const git = gitDirOf(shadow)
  for (const name of ['objects/info', 'objects/pack', 'refs/heads', 'info'])
    await mkdir(join(git, name), { recursive: true, mode: 0o700 })
  await writeFile(join(git, 'HEAD'), 'ref: refs/heads/none\n', { mode: 0o600 })
  await writeFile(join(git, 'config'), await configOf(folder), { mode: 0o600 })
  await writeFile(join(git, 'info/attributes'), NO_CONVERSION, { mode: 0o600 })
  // Last: a folder without it is created again.
  await replaceFile(join(shadow, 'folder.json'), `${JSON.stringify({ version: 1, path: folder })}\n`)
}

/** The folder whose states a shadow has. */
export async function readFolderOf(shadow: string): Promise<string> {
  const { path } = asRecord(parseJson(await readFile(join(shadow, 'folder.json'), 'utf8')))
  const folder = asString(path)
  if (folder === undefined) throw new Error('folder.json does not name a folder')
  return folder
}

/** The ignore rules that only the repository's own `info/exclude` has. */
export async function setExcludes(shadow: string, excludes: Buffer): Promise<void> {
  const path = join(gitDirOf(shadow), 'info/exclude')
  const before = await readFile(path).catch(() => undefined)
  if (before === undefined || !before.equals(excludes)) await writeFile(path, excludes, { mode: 0o600 })
}

/** What a git that failed or was killed has left. Only while no git writes to the shadow. */
export async function removeLeftovers(shadow: string): Promise<void> {
  const git = gitDirOf(shadow)
  const locks = (await readdir(git)).filter((name) => name.endsWith('.lock'))
  for (const name of locks) await rm(join(git, name), { force: true })
  const objects = join(git, 'objects')
  for (const folder of await readdir(objects))
    for (const name of await readdir(join(objects, folder)))
      if (name.startsWith('tmp_') || name.startsWith('.tmp-')) await rm(join(objects, folder, name), { force: true })
}

/** Bytes stay as they are: no line endings, no filters, no `$Id$`, no encodings, whatever `.gitattributes` says. */
export const NO_CONVERSION = '* -text !eol -ident -filter !working-tree-encoding !diff !merge !export-subst\n'

/** What git writes is as private as the rest of the home, whatever the umask is. */
async function configOf(folder: string): Promise<string> {
  return `[core]
\trepositoryFormatVersion = 0
\tbare = false
\tfileMode = ${process.platform !== 'win32'}
\tsymlinks = ${process.platform !== 'win32'}
\tignoreCase = ${await ignoresCase(folder)}
\tprotectNTFS = ${process.platform === 'win32'}
\tlogAllRefUpdates = false
\tsharedRepository = 0600
\tcompression = 1
[index]
\tversion = 4
[diff]
\trenameLimit = 400
[pack]
\tthreads = 1
`
}

/** Whether another case of the name is the same folder. */
async function ignoresCase(folder: string): Promise<boolean> {
  const other = folder === folder.toUpperCase() ? folder.toLowerCase() : folder.toUpperCase()
  if (other === folder) return false
  const [a, b] = await Promise.all([folder, other].map((path) => lstat(path).catch(() => undefined)))
  return a !== undefined && b !== undefined && a.ino === b.ino && a.dev === b.dev
}

async function replaceFile(path: string, text: string): Promise<void> {
  await writeFile(`${path}.new`, text, { mode: 0o600 })
  await rename(`${path}.new`, path)
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return false
    throw thrown
  }
}
