import { createHash } from 'node:crypto'
import { type Clock, isAgentprotoError } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import { JsonFile } from '@agentproto/json-file'
import * as z from 'zod'
import type { Registry } from './registry-entry.js'
import { parseRegistry } from './parse-registry.js'

/** What a server says of a version of a document, which it compares at the next request. */
export interface Validators {
  readonly etag?: string
  readonly lastModified?: string
}

/** The last good answer of a registry. */
export interface KeptRegistry {
  readonly text: string
  readonly registry: Registry
  readonly validators: Validators
  /** Milliseconds since the epoch. */
  readonly confirmedAt: number
}

const schema = z.object({
  url: z.string(),
  text: z.string(),
  validators: z.object({ etag: z.string().exactOptional(), lastModified: z.string().exactOptional() }),
  confirmedAt: z.number(),
})

type StoredRegistry = z.infer<typeof schema>

interface CacheOptions {
  readonly home: string
  readonly url: string
  readonly clock: Clock
}

/** The file of one address: for its owner alone, replaced as a whole. What cannot be read counts as not there. */
export class RegistryCache {
  readonly #url: string
  readonly #file: JsonFile<StoredRegistry>

  constructor({ home, url, clock }: CacheOptions) {
    const name = createHash('sha256').update(url).digest('hex').slice(0, 32)
    const empty = { url: '', text: '', validators: {}, confirmedAt: 0 }
    this.#url = url
    this.#file = new JsonFile({
      path: `${homeLayout(home).registries}/${name}.json`,
      what: 'copy of the registry of agents',
      schema,
      empty,
      clock,
    })
  }

  async read(): Promise<KeptRegistry | undefined> {
    const { content } = await this.#file.read()
    if (content.url !== this.#url) return undefined
    try {
      return { ...content, registry: parseRegistry(content.text, new URL(this.#url)) }
    } catch (thrown) {
      // Another version of agentproto may have kept what this one does not understand.
      if (isAgentprotoError(thrown) && thrown.code === 'registry_invalid') return undefined
      throw thrown
    }
  }

  /** @throws `storage_failed` */
  write({ text, validators, confirmedAt }: KeptRegistry): Promise<void> {
    return this.#file.change(() => [{ url: this.#url, text, validators, confirmedAt }, undefined])
  }
}
