import {
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { connect } from 'node:net'
import type { Server } from 'node:net'

/**
 * The socket of a home: `<number>.sock` in its folder, and the highest number counts. A keeper that finds the highest one dead
 * links its own, which listens already, to the next number: only one can. The highest is never removed, so that a number is
 * never used twice, and no two keepers are alive (docs/decisions/keeper.md).
 */
export const SECRET_FILE = 'secret'
const SECRET_BYTES = 32

export const socketName = (number: number): string => `${number}.sock`

/** A home starts fewer keepers than this; a file with a higher number is no socket of one. */
const MAX_NUMBER = 999_999_999
const numberOf = (name: string): number => Number(/^([1-9]\d{0,8})\.sock$/.exec(name)?.[1] ?? 0)

/** The number of the newest keeper in a folder, 0 if there was none. */
export const newestNumber = (folder: string): number => Math.max(0, ...readdirSync(folder).map(numberOf))

/** Listens as the keeper of the current folder. @returns its number; undefined when another one is alive */
export async function listenAlone(server: Server): Promise<number | undefined> {
  const own = `starting-${process.pid}-${process.hrtime.bigint()}`
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(own, resolve))
  chmodSync(own, 0o600)
  try {
    for (;;) {
      const newest = newestNumber('.')
      if (newest > 0 && (await answers(newest))) return undefined
      if (newest === MAX_NUMBER) throw new Error(`no number is left: remove ${socketName(newest)}`)
      if (linked(own, socketName(newest + 1)) && newestNumber('.') === newest + 1) return tidied(newest + 1)
    }
  } finally {
    rmSync(own, { force: true })
  }
}

/** The secret that a peer must know; created by the first keeper of the home. */
export function homeSecret(): Buffer {
  const own = `${SECRET_FILE}-${process.pid}`
  writeFileSync(own, randomHex(SECRET_BYTES), { mode: 0o600, flag: 'wx' })
  linked(own, SECRET_FILE)
  rmSync(own)
  const { uid, mode } = lstatSync(SECRET_FILE)
  if (uid !== process.getuid?.() || (mode & 0o177) !== 0) throw new Error('the secret is not private')
  const secret = Buffer.from(readFileSync(SECRET_FILE, 'latin1'), 'hex')
  if (secret.length !== SECRET_BYTES) throw new Error('the secret is damaged')
  return secret
}

/** Whether something listens; a frozen keeper does. */
function answers(number: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(socketName(number))
    socket.once('connect', () => resolve(true))
    socket.once('error', ({ code }: NodeJS.ErrnoException) => resolve(code !== 'ECONNREFUSED' && code !== 'ENOENT'))
    socket.once('connect', () => socket.destroy())
  })
}

/** Gives a file a second name; false if the name is taken. */
function linked(from: string, to: string): boolean {
  try {
    linkSync(from, to)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

function tidied(number: number): number {
  const older = (name: string): boolean => numberOf(name) > 0 && numberOf(name) < number
  for (const name of readdirSync('.').filter(older)) {
    try {
      unlinkSync(name)
    } catch {
      // It is no socket, and does no harm.
    }
  }
  return number
}

/** Node's own source of randomness would load a library for it, and this process is to be small. */
function randomHex(bytes: number): string {
  const random = Buffer.alloc(bytes)
  const device = openSync('/dev/urandom', 'r')
  try {
    if (readSync(device, random) !== bytes) throw new Error('there is no randomness')
    return random.toString('hex')
  } finally {
    closeSync(device)
  }
}
