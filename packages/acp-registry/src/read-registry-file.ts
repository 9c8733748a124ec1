import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { AgentprotoError } from '@agentproto/contracts'
import { parseRegistry, REGISTRY_BYTES_MAX, tooLarge } from './parse-registry.js'
import type { Registry } from './registry-entry.js'

/**
 * Reads a registry document from a file, or one entry alone, as an author has it.
 * @param path absolute
 * @throws `path_invalid` when it is not a file that can be read, which a pipe and a device are not; `registry_invalid`
 */
export async function readRegistryFile(path: string): Promise<Registry> {
  return parseRegistry(await boundedText(path))
}

async function boundedText(path: string): Promise<string> {
  try {
    const file = await open(path, OPEN_FLAGS)
    try {
      const info = await file.stat()
      if (!info.isFile()) throw unreadable(path)
      if (info.size > REGISTRY_BYTES_MAX) throw tooLarge()
      return await readBounded(file)
    } finally {
      await file.close()
    }
  } catch (thrown) {
    throw thrown instanceof AgentprotoError ? thrown : unreadable(path, thrown)
  }
}

// Opening a pipe would wait for its writer. Windows has no such flag.
const OPEN_FLAGS = constants.O_RDONLY | ((constants.O_NONBLOCK as number | undefined) ?? 0)

/** Its size is no bound: a file may grow while it is read, and those of /proc have the size 0. */
async function readBounded(file: FileHandle): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of file.createReadStream({ autoClose: false }) as AsyncIterable<Buffer>) {
    bytes += chunk.length
    if (bytes > REGISTRY_BYTES_MAX) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}

const unreadable = (given: string, cause?: unknown): AgentprotoError =>
  new AgentprotoError('path_invalid', 'The file of the registry cannot be read', {
    expected: 'a file with a registry document, or with one entry',
    given,
    hint: 'Check its path, and whether this user may read it',
    cause,
  })
