import { constants, copyFile, mkdir, realpath, rm, stat, symlink } from 'node:fs/promises'
import { dirname, join, posix, sep } from 'node:path'
import { extract } from 'tar-stream'
import { pipeline } from 'node:stream/promises'
import { buffer } from 'node:stream/consumers'
import { openPromise } from 'yauzl'
import { type ArchiveFile, readContent, unpackFailed } from './archive-content.js'
import { entryType } from './archive-member.js'
import { writeBounded } from './write-bounded.js'

/** What to unpack, and where to. */
export interface UnpackingAll extends ArchiveFile {
  /** A folder; must not exist. */
  readonly to: string
  /** Path that a file gets which is no archive. */
  readonly single: string
}

/**
 * Unpacks an archive of the forms of `unpack` into a folder of its own. Links are made last and may not lead out of it; devices are
 * passed over. A path that leads out, two files of one path, and too many or too large files end it, and nothing is left.
 * @throws `install_failed`
 */
export async function unpackAll({ to, single, ...file }: UnpackingAll): Promise<void> {
  const target = new ArchiveFolder(to, file.maxBytes)
  try {
    await mkdir(to, { mode: 0o700 })
    await readContent(file, {
      zip: () => fromZip(file.archive, target),
      tar: (bytes) => fromTar(bytes, target),
      single: (content) => target.file({ path: single, mode: 0o755, content }),
    })
  } catch (thrown) {
    await rm(to, { recursive: true, force: true, maxRetries: 3 })
    throw thrown
  }
}

const ENTRIES_MAX = 100_000
const LINK_CHARS_MAX = 4_096

interface FileEntry {
  readonly path: string
  readonly mode: number
  readonly content: AsyncIterable<Buffer>
}

/** The folder that an archive is unpacked into. */
class ArchiveFolder {
  readonly #root: string
  /** By their paths, compared as a file system may that does not know case. */
  readonly #links = new Map<string, { readonly path: string; readonly target: string }>()
  #bytesLeft: number
  #entriesLeft = ENTRIES_MAX

  constructor(root: string, maxBytes: number) {
    this.#root = root
    this.#bytesLeft = maxBytes
  }

  async file({ path, mode, content }: FileEntry): Promise<void> {
    const to = await this.#place(path)
    // Neither setuid nor writable by others, whatever the archive says.
    const own = (mode & 0o111) === 0 ? 0o644 : 0o755
    this.#bytesLeft -= await writeBounded(content, { to, mode: own, maxBytes: this.#bytesLeft })
  }

  async folder(path: string): Promise<void> {
    this.#count()
    await mkdir(join(this.#root, pathBelow(path)), { recursive: true })
  }

  /** A second name of a file of the archive: a copy, so that a change of one is none of the other. */
  async copy(path: string, of: string): Promise<void> {
    const [to, from] = [await this.#place(path), join(this.#root, pathBelow(of))]
    this.#bytesLeft -= (await stat(from)).size
    if (this.#bytesLeft < 0) throw unpackFailed('The file in the download is too large')
    await copyFile(from, to, constants.COPYFILE_EXCL)
  }

  /** A link, which is made when all files are written: none is written through it. */
  link(path: string, given: string): void {
    this.#count()
    const [at, target] = [pathBelow(path), given.replaceAll('\\', '/')]
    if (target === '' || target.length > LINK_CHARS_MAX || isRooted(target)) throw outside(`${path} → ${given}`)
    pathBelow(posix.join(posix.dirname(at), target))
    this.#links.set(comparable(at), { path: at, target })
  }

  /** Makes the links. Until the last check, nothing is made through one: their folders are folders. */
  async close(): Promise<void> {
    for (const { path, target } of this.#links.values()) {
      for (let folder = posix.dirname(path); folder !== '.'; folder = posix.dirname(folder))
        if (this.#links.has(comparable(folder))) throw outside(path)
      const at = join(this.#root, path)
      await mkdir(dirname(at), { recursive: true })
      await symlink(target, at)
    }
    const root = await realpath(this.#root)
    for (const { path } of this.#links.values()) await checkLink(join(root, path), root)
  }

  async #place(path: string): Promise<string> {
    this.#count()
    const to = join(this.#root, pathBelow(path))
    await mkdir(dirname(to), { recursive: true })
    return to
  }

  #count(): void {
    this.#entriesLeft -= 1
    if (this.#entriesLeft < 0) throw unpackFailed(`The download has more than ${ENTRIES_MAX} files`)
  }
}

/** Links of links: only the file system knows where they lead. One that leads nowhere is removed. */
async function checkLink(at: string, root: string): Promise<void> {
  const real = await realpath(at).catch(() => undefined)
  if (real === undefined) return rm(at, { force: true })
  if (real !== root && !real.startsWith(`${root}${sep}`)) throw outside(at.slice(root.length + 1))
}

const comparable = (path: string): string => path.normalize('NFC').toLowerCase()

const isRooted = (path: string): boolean => path.includes('\0') || posix.isAbsolute(path) || /^[A-Za-z]:/.test(path)

/** A path of an archive, without `.` and `..`. @throws `install_failed` for one that leads out */
function pathBelow(given: string): string {
  const path = given.replaceAll('\\', '/')
  const normal = posix.normalize(path).replace(/\/$/, '')
  if (isRooted(path) || normal === '..' || normal.startsWith('../')) throw outside(given)
  return normal
}

const outside = (path: string) =>
  unpackFailed(`The download has a path that leads out of its folder: ${path.slice(0, 200)}`)

async function fromTar(stream: AsyncIterable<Buffer>, target: ArchiveFolder): Promise<void> {
  const entries = extract()
  const feeding = pipeline(stream, entries)
  // A failure of the stream reaches the loop below through the entries.
  feeding.catch(() => undefined)
  try {
    for await (const entry of entries) {
      const { name: path, type, linkname, mode } = entry.header
      if (type === 'file' || type === 'contiguous-file')
        await target.file({ path, mode, content: entry as AsyncIterable<Buffer> })
      if (type === 'directory') await target.folder(path)
      if (type === 'symlink') target.link(path, linkname ?? '')
      if (type === 'link') await target.copy(path, linkname ?? '')
      entry.resume()
    }
    // An archive that is cut off fails here, and not as one with fewer files.
    await feeding
    await target.close()
  } finally {
    entries.destroy()
  }
}

async function fromZip(file: string, target: ArchiveFolder): Promise<void> {
  const zip = await openPromise(file, { autoClose: false })
  try {
    for await (const entry of zip.eachEntry()) {
      const { fileName: path, externalFileAttributes, uncompressedSize } = entry
      const [type, mode] = [entryType(entry), (externalFileAttributes >>> 16) & 0o777]
      if (type === 'folder') await target.folder(path)
      if (type === 'file') await target.file({ path, mode, content: await zip.openReadStreamPromise(entry) })
      if (type !== 'link') continue
      if (uncompressedSize > LINK_CHARS_MAX) throw outside(path)
      target.link(path, (await buffer(await zip.openReadStreamPromise(entry))).toString('utf8'))
    }
    await target.close()
  } finally {
    zip.close()
  }
}
