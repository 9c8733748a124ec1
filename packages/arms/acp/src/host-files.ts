import { constants } from 'node:fs'
import { lstat, mkdir, open, realpath } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { AGENT_BOUNDS } from './agent-bounds.js'
import { HostRefusal } from './rpc-answer.js'

/** The files of a session's roots. */
export class HostFiles {
  readonly #roots: readonly string[]

  /** @param roots absolute and without symbolic links */
  constructor(roots: readonly string[]) {
    this.#roots = roots
  }

  /** The real path of a file, which need not exist. @throws `HostRefusal` outside the roots */
  async locate(path: unknown): Promise<string> {
    if (typeof path !== 'string' || path.includes('\0') || !isAbsolute(path)) {
      throw new HostRefusal('invalid', 'The path must be absolute and without NUL')
    }
    const real = await resolved(resolve(path))
    if (this.#roots.some((root) => isInside(root, real))) return real
    throw new HostRefusal('invalid', `The path is outside the folders of the session: ${path}`)
  }

  /** Reads `limit` lines from `line` on, which is counted from 1; else the whole file. @throws `HostRefusal` */
  async read(path: unknown, line = 1, limit?: number): Promise<string> {
    const file = await this.locate(path)
    const text = await withFile(file, constants.O_RDONLY, async (handle, size) => {
      if (size > AGENT_BOUNDS.fileBytes)
        throw new HostRefusal('failed', `The file has ${size} bytes, and at most ${AGENT_BOUNDS.fileBytes} are read`)
      return handle.readFile('utf8')
    })
    if (line <= 1 && limit === undefined) return text
    const from = Math.max(1, line) - 1
    return text
      .split('\n')
      .slice(from, limit === undefined ? undefined : from + Math.max(0, limit))
      .join('\n')
  }

  /** Writes the file that {@link locate} found, unless the path leads elsewhere now. @throws `HostRefusal` */
  async write(file: string, content: string): Promise<void> {
    if (Buffer.byteLength(content) > AGENT_BOUNDS.fileBytes)
      throw new HostRefusal('failed', `At most ${AGENT_BOUNDS.fileBytes} bytes are written`)
    // The user was asked in between, for any length of time.
    if ((await this.locate(file)) !== file) throw new HostRefusal('failed', `The path leads elsewhere now: ${file}`)
    await mkdir(dirname(file), { recursive: true })
    await withFile(file, constants.O_WRONLY | constants.O_CREAT, async (handle) => {
      await handle.truncate(0)
      await handle.writeFile(content)
    })
  }
}

/** Opens a regular file: no link, and no pipe that would wait for its other end. */
async function withFile<T>(
  file: string,
  flags: number,
  use: (handle: FileHandle, size: number) => Promise<T>,
): Promise<T> {
  let handle: FileHandle | undefined
  try {
    handle = await open(file, flags | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const stats = await handle.stat()
    if (!stats.isFile()) throw new HostRefusal('failed', `The path is no file: ${file}`)
    return await use(handle, stats.size)
  } catch (thrown) {
    throw failure(thrown, file)
  } finally {
    await handle?.close()
  }
}

/** The path with the links of its existing part resolved. */
async function resolved(path: string): Promise<string> {
  const missing: string[] = []
  for (let existing = path; ; existing = dirname(existing)) {
    try {
      return join(await realpath(existing), ...missing)
    } catch (thrown) {
      if (codeOf(thrown) !== 'ENOENT') throw failure(thrown, path)
      // Creating the file would follow a dangling link.
      if (await lstat(existing).catch(() => {}))
        throw new HostRefusal('invalid', `The path is a dangling link: ${path}`)
      missing.unshift(basename(existing))
    }
  }
}

function isInside(root: string, path: string): boolean {
  const way = relative(root, path)
  return way !== '..' && !way.startsWith('../') && !isAbsolute(way)
}

const codeOf = (thrown: unknown): unknown => (thrown instanceof Error && 'code' in thrown ? thrown.code : undefined)

function failure(thrown: unknown, path: string): HostRefusal {
  if (thrown instanceof HostRefusal) return thrown
  const code = codeOf(thrown)
  // Agents distinguish a missing file from a failure by this message.
  if (code === 'ENOENT') return new HostRefusal('absent', `Resource not found: ${path}`)
  return new HostRefusal('failed', `The file cannot be used (${String(code ?? thrown)}): ${path}`)
}
