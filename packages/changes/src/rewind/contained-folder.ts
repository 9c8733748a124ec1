import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, readlink, realpath } from 'node:fs/promises'
import { fsPath } from '../git/path-text.js'
import { codeOf } from '../git-errors.js'

/**
 * Files of a folder by their paths in it, where no link on the way is followed. On Linux each parent is opened through the one
 * above it, so that a folder that is replaced by a link meanwhile leads nowhere else; elsewhere each is checked just before.
 */
export class ContainedFolder {
  readonly #root: string

  /** @param root its real path */
  constructor(root: string) {
    this.#root = root
  }

  /**
   * Runs with the folder that a path is in.
   * @param create whether missing folders on the way are created
   * @throws {@link InTheWay}; ENOENT where a folder is missing
   */
  async inParent<T>({ path, create = false }: Entry, run: (place: Place) => Promise<T>): Promise<T> {
    const parts = path.split('/')
    const name = parts.pop() ?? ''
    const held = await HeldFolder.open(this.#root)
    try {
      for (const part of parts) await held.enter(part, create)
      return await run({ at: held.at(name), beside: (other) => held.at(other) })
    } finally {
      await held.close()
    }
  }
}

export interface Entry {
  readonly path: string
  readonly create?: boolean
}

/** Where a file is, for functions of `node:fs` that do not follow links. */
export interface Place {
  readonly at: string | Buffer
  beside(name: string): string | Buffer
}

/** A parent is a link or a file. */
export class InTheWay extends Error {
  constructor(detail: string) {
    super(detail)
    this.name = 'InTheWay'
  }
}

const OPEN_FOLDER = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0)

/** A folder, and on Linux a descriptor that stays with it. */
class HeldFolder {
  #path: string
  #handle: FileHandle | undefined

  private constructor(path: string, handle: FileHandle | undefined) {
    this.#path = path
    this.#handle = handle
  }

  static async open(root: string): Promise<HeldFolder> {
    if (process.platform !== 'linux') {
      if ((await realpath(root)) !== root) throw new InTheWay(`${root} was replaced by a link`)
      return new HeldFolder(root, undefined)
    }
    const handle = await openFolder(root, root)
    const held = new HeldFolder(root, handle)
    if ((await readlink(`/proc/self/fd/${handle.fd}`)) === root) return held
    await held.close()
    throw new InTheWay(`${root} was replaced by a link`)
  }

  at(name: string): string | Buffer {
    const base = this.#handle === undefined ? this.#path : `/proc/self/fd/${this.#handle.fd}`
    return fsPath(`${base}/${name}`)
  }

  async enter(name: string, create: boolean): Promise<void> {
    const at = this.at(name)
    if (create) await makeFolder(at)
    if (this.#handle === undefined) await checkFolder(at, name)
    else {
      const above = this.#handle
      this.#handle = await openFolder(at, name)
      await above.close()
    }
    this.#path = `${this.#path}/${name}`
  }

  async close(): Promise<void> {
    await this.#handle?.close()
    this.#handle = undefined
  }
}

async function openFolder(at: string | Buffer, name: string): Promise<FileHandle> {
  try {
    return await open(at, OPEN_FOLDER)
  } catch (thrown) {
    throw notAFolder(thrown, name)
  }
}

async function checkFolder(at: string | Buffer, name: string): Promise<void> {
  if (!(await lstat(at)).isDirectory()) throw new InTheWay(`${name} is not a folder`)
}

async function makeFolder(at: string | Buffer): Promise<void> {
  await mkdir(at).catch((thrown: unknown) => {
    if (codeOf(thrown) !== 'EEXIST') throw thrown
  })
}

const notAFolder = (thrown: unknown, name: string): unknown =>
  ['ELOOP', 'ENOTDIR', 'EMLINK'].includes(codeOf(thrown) ?? '') ? new InTheWay(`${name} is not a folder`) : thrown
