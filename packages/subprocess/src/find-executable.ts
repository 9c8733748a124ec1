import { constants, readFileSync } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, dirname, isAbsolute, join } from 'node:path'
import { AgentprotoError } from '@agentproto/contracts'
import { executableNames, shimTarget } from './windows-shim.js'

export interface ExecutableSearch {
  /** Absolute paths by name; they win. */
  readonly executables?: Readonly<Record<string, string>>
  /** Folders that are looked in before `path`. */
  readonly dirs?: readonly string[]
  /** A PATH; completed by {@link healPath} before it is used. */
  readonly path?: string
  /** The user's home, for {@link healPath}. */
  readonly home?: string
}

/**
 * Finds an executable file by its name, or checks an absolute path.
 * @returns its absolute path, or undefined
 */
export async function findExecutable(name: string, search: ExecutableSearch = {}): Promise<string | undefined> {
  const { executables = {} } = search
  const given = Object.hasOwn(executables, name) ? executables[name] : undefined
  if (given !== undefined) return (await isFile(given)) ? given : undefined
  for (const candidate of candidates(name, search)) if (await isExecutable(candidate)) return candidate
  return undefined
}

function candidates(name: string, { dirs = [], path = '', home }: ExecutableSearch): readonly string[] {
  if (isAbsolute(name)) return [name]
  // There is no folder that a name with a slash would be relative to.
  if (name === '' || name.includes('/') || name.includes('\0')) return []
  const folders = [...dirs, ...healPath(path, home).split(delimiter)]
  const names = executableNames(name, process.platform, process.env['PATHEXT'])
  return folders.filter(isAbsolute).flatMap((folder) => names.map((each) => join(folder, each)))
}

/**
 * Appends to a PATH the folder of Node itself (npm and npx are beside it) and the usual folders of installed tools: a
 * service manager gives a PATH of two folders.
 */
export function healPath(path: string, home?: string): string {
  const usual = [
    dirname(process.execPath),
    ...(home === undefined ? [] : [join(home, '.local/bin'), join(home, 'bin'), join(home, '.bun/bin')]),
    '/opt/homebrew/bin',
    '/usr/local/bin',
    '/usr/bin',
    '/bin',
  ]
  const dirs = path.split(delimiter).filter(Boolean)
  return [...new Set(process.platform === 'win32' ? [...dirs, dirname(process.execPath)] : [...dirs, ...usual])].join(
    delimiter,
  )
}

/**
 * How a file is run: a Node script under this Node, a Windows shim by the program that it starts, anything else directly.
 * @throws `spawn_failed` for a batch file that is not such a shim
 */
export function commandFor(file: string): { readonly command: string; readonly args: readonly string[] } {
  if (process.platform === 'win32' && /\.(?:cmd|bat)$/i.test(file)) return shimCommand(file)
  return /\.[cm]?js$/.test(file) ? { command: process.execPath, args: [file] } : { command: file, args: [] }
}

function shimCommand(file: string): { readonly command: string; readonly args: readonly string[] } {
  const target = shimTarget(file, readFileSync(file, 'utf8'))
  if (target?.runtime === 'node') return { command: process.execPath, args: [target.file] }
  if (target !== undefined) return { command: target.file, args: [] }
  throw new AgentprotoError('spawn_failed', 'The batch file cannot be started without a shell', {
    expected: 'an executable, a script, or a shim of npm or pnpm',
    given: file,
  })
}

async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return await isFile(file)
  } catch {
    return false
  }
}

async function isFile(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}
