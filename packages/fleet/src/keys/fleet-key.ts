import { randomBytes } from 'node:crypto'
import { open } from 'node:fs/promises'
import { AgentprotoError } from '@agentproto/contracts'
import { readPrivate } from '../cluster/private-file.js'

// The key that the gateways of a fleet share: a program that has it can call in the name of every host. It is a text of one line, so that it can be
// copied with the NATS credentials.

const KEY_BYTES = 32
/** 32 bytes in base64url. */
const KEY = /^[A-Za-z0-9_-]{43}\n?$/

/**
 * Reads the key of the fleet: 32 bytes.
 * @param path Absolute
 * @throws `invalid_request` if there is no such file, if others may read it, or if it has no key
 */
export async function readFleetKey(path: string): Promise<Uint8Array> {
  const text = readPrivate({ what: 'fleet key', path }).toString('latin1')
  if (KEY.test(text)) return new Uint8Array(Buffer.from(text.trim(), 'base64url'))
  // The message never has the text: it may be a key with a typing error.
  throw new AgentprotoError('invalid_request', `The file ${path} has no fleet key`, {
    expected: '32 bytes as 43 characters of base64url',
    given: `${text.length} characters`,
    hint: 'Copy the key file of another host of the fleet',
  })
}

/**
 * Creates the key file of a new fleet, with mode 0600.
 * @param path Absolute
 * @throws `invalid_request` if the file exists or cannot be written
 */
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
    throw new AgentprotoError('invalid_request', 'The fleet key cannot be created', {
      expected: 'a path in a folder of this user, where no file is yet',
      given: path,
      hint: 'A fleet has one key: copy the file that is there to the other hosts, or name another path',
      cause,
    })
  }
}
