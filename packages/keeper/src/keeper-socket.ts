import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { newestNumber, SECRET_FILE, socketName } from './program/home-socket.js'
import { unavailable } from './wire-connection.js'

/** Node does not name it. */
const O_PATH = 0o10000000
/** Longest path of a socket where it cannot be shortened, in bytes: macOS. */
const MAX_PATH_BYTES = 103

/** Creates the keeper's folder. @throws `keeper_unavailable` when it is not private */
export function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
  } catch (error) {
    throw unavailable(`its folder cannot be created: ${folder}`, error)
  }
  const held = lstatSync(folder)
  if (!held.isDirectory() || held.uid !== process.getuid?.() || (held.mode & 0o077) !== 0)
    throw unavailable(`its folder is not a private folder of this user (mode 0700): ${folder}`)
}

/** The secret of the home's keepers, which its folder hides from other users. @throws `keeper_unavailable` */
export function readSecret(folder: string): string {
  try {
    return readFileSync(`${folder}/${SECRET_FILE}`, 'latin1')
  } catch (error) {
    throw unavailable(`its secret cannot be read: ${folder}/${SECRET_FILE}`, error)
  }
}

/** Connects to the newest keeper of a folder; undefined when none is alive. @throws `keeper_unavailable` */
export async function connectNewest(folder: string): Promise<Socket | undefined> {
  const number = numberIn(folder)
  return number === 0 ? undefined : throughShortPath(folder, (at) => connectTo(`${at}/${socketName(number)}`))
}

function numberIn(folder: string): number {
  try {
    return newestNumber(folder)
  } catch {
    return 0
  }
}

/** The path of a socket has at most 107 bytes. On Linux an open folder has a short one, however long its name is. */
async function throughShortPath<T>(folder: string, use: (at: string) => Promise<T>): Promise<T> {
  if (process.platform !== 'linux') {
    if (Buffer.byteLength(folder) + 16 > MAX_PATH_BYTES)
      throw unavailable(`the path of its folder is too long: ${folder}`)
    return use(folder)
  }
  const held = openSync(folder, O_PATH | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  try {
    if (fstatSync(held).uid !== process.getuid?.()) throw unavailable(`its folder belongs to another user: ${folder}`)
    return await use(`/proc/self/fd/${held}`)
  } finally {
    closeSync(held)
  }
}

/** How a connection to a keeper fails that has ended, or ends at this moment. */
const DEAD: ReadonlySet<string | undefined> = new Set(['ECONNREFUSED', 'ENOENT', 'ECONNRESET'])

function connectTo(path: string): Promise<Socket | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(path)
    socket.once('connect', () => {
      socket.off('error', failed)
      resolve(socket)
    })
    socket.once('error', failed)
    function failed(error: NodeJS.ErrnoException): void {
      if (DEAD.has(error.code)) resolve(undefined)
      else reject(unavailable(`its socket cannot be connected to (${error.code})`, error))
    }
  })
}
