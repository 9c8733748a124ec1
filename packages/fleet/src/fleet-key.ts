import { randomBytes } from 'node:crypto'
import { type FileHandle, open } from 'node:fs/promises'
import { AgentprotoError } from '@agentproto/contracts'

// The key that the gateways of a fleet share: whoever has it speaks for every host. It is a text of one line, so that it can be
// copied with the NATS credentials.

const KEY_BYTES = 32
/** 32 bytes in base64url. */
const KEY = /^[A-Za-z0-9_-]{43}\n?$/
/** A key file is shorter; a longer file is not read. */
const MAX_FILE_BYTES = 128
/** Rights of the group and of others. */
const NOT_OWNER = 0o077

/**
 * Reads the key of the fleet.
 * @param path Absolute
 * @throws `path_invalid` if there is no such file, if others than its owner may use it, or if it has no key
 */
export async function readFleetKey(path: string): Promise<Uint8Array> {
  const file = await open(path, 'r').catch((cause: unknown) => {
    throw new AgentprotoError('path_invalid', 'The key of the fleet cannot be read', {
      expected: 'a key file that this user may read',
      given: path,
      hint: 'Copy the key file of another host of the fleet, or create one with createFleetKey',
      cause,
    })
  })
  try {
    await assertOwnersOnly(file, path)
    return keyOf(await textOf(file), path)
  } finally {
    await file.close()
  }
}

/** Creates a key file for a new fleet, with mode 0600. @throws `path_invalid` if the file exists or cannot be written */
export async function createFleetKey(path: string): Promise<void> {
  const key = randomBytes(KEY_BYTES).toString('base64url')
  try {
    const file = await open(path, 'wx', 0o600)
    try {
      await file.writeFile(`${key}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
  } catch (cause) {
    throw new AgentprotoError('path_invalid', 'The key of the fleet cannot be created', {
      expected: 'a path in a folder of this user, where no file is yet',
      given: path,
      cause,
    })
  }
}

/** Of the open file, so that it cannot be replaced in between. Windows has no such modes. */
async function assertOwnersOnly(file: FileHandle, path: string): Promise<void> {
  const { mode, uid } = await file.stat()
  if (process.getuid === undefined) return
  if ((mode & NOT_OWNER) === 0 && uid === process.getuid()) return
  throw new AgentprotoError('path_invalid', 'Others may use the key file of the fleet', {
    expected: 'a file of this user with mode 0600',
    given: `${path} with mode 0${(mode & 0o777).toString(8)}`,
    hint: 'Change its owner or mode, and replace the key on all hosts if others may have read it',
  })
}

async function textOf(file: FileHandle): Promise<string> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(MAX_FILE_BYTES), 0, MAX_FILE_BYTES, 0)
  return buffer.toString('latin1', 0, bytesRead)
}

/** The message never has the text: it may be a key with a typing error. */
function keyOf(text: string, path: string): Uint8Array {
  if (KEY.test(text)) return new Uint8Array(Buffer.from(text.trim(), 'base64url'))
  throw new AgentprotoError('path_invalid', 'The key file of the fleet has no key', {
    expected: '32 bytes as 43 characters of base64url',
    given: `${path} with ${text.length} characters`,
  })
}
