import { open } from 'node:fs/promises'
import { AgentprotoError } from '@agentproto/contracts'
import { parseRegistry, REGISTRY_BYTES_MAX, tooLarge } from './parse-registry.js'
import type { Registry } from './registry-entry.js'

/**
 * Reads a registry document from a file, or one entry alone, as an author has it.
 * @param path absolute
 * @throws `path_invalid` when it is not a file that can be read; `registry_invalid`
 */
export async function readRegistryFile(path: string): Promise<Registry> {
  return parseRegistry(await boundedText(path))
}

async function boundedText(path: string): Promise<string> {
  try {
    const file = await open(path, 'r')
    try {
      const info = await file.stat()
      if (!info.isFile()) throw unreadable(path)
      if (info.size > REGISTRY_BYTES_MAX) throw tooLarge()
      return await file.readFile('utf8')
    } finally {
      await file.close()
    }
  } catch (thrown) {
    throw thrown instanceof AgentprotoError ? thrown : unreadable(path, thrown)
  }
}

const unreadable = (given: string, cause?: unknown): AgentprotoError =>
  new AgentprotoError('path_invalid', 'The file of the registry cannot be read', {
    expected: 'a file with a registry document, or with one entry',
    given,
    cause,
  })
