import { readdir, readFile } from 'node:fs/promises'
import { extname, join, sep } from 'node:path'
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { ConsoleFile, ConsoleFiles } from '@agentproto/contracts/wire'

const zip = promisify(gzip)

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
}

/** Below this size, in bytes, compression saves no packet. */
const ZIPPED_FROM = 1_024

/**
 * The files of a built console. Each is read and compressed once, when it is first asked for. A request never becomes a path:
 * only names that the folder had at the first request are served.
 * @param folder of the build; where it is missing, there is no console
 */
export function consoleFiles(folder: string): ConsoleFiles {
  let listing: Promise<Map<string, string>> | undefined
  const files = new Map<string, Promise<ConsoleFile>>()
  return async (path) => {
    const name = path === '' ? 'index.html' : path
    const file = (await (listing ??= listed(folder))).get(name)
    if (file === undefined) return undefined
    const known = files.get(name) ?? readOne(file)
    files.set(name, known)
    return known
  }
}

/** The files of known types, by their names in addresses. */
async function listed(folder: string): Promise<Map<string, string>> {
  const names = await readdir(folder, { recursive: true }).catch(() => [])
  const served = names.filter((name) => TYPES[extname(name)] !== undefined)
  return new Map(served.map((name) => [name.split(sep).join('/'), join(folder, name)]))
}

async function readOne(path: string): Promise<ConsoleFile> {
  const bytes = new Uint8Array(await readFile(path))
  const gzipped = bytes.length < ZIPPED_FROM ? undefined : new Uint8Array(await zip(bytes, { level: 9 }))
  const type = TYPES[extname(path)] ?? 'application/octet-stream'
  return { type, bytes, isHashed: /-[\w-]{8}\.\w+$/.test(path), ...(gzipped && { gzipped }) }
}
