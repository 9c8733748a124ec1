import { createHash } from 'node:crypto'
import { readdir, rm, stat } from 'node:fs/promises'
import type { Clock } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import { JsonFile } from '@agentproto/json-file'
import * as z from 'zod'

/** So many icons are kept; the oldest go first. */
const ICONS_MAX = 300

const schema = z.object({
  address: z.string(),
  at: z.number(),
  svg: z.string().exactOptional(),
  problem: z.string().exactOptional(),
})

/** What an address gave the last time. */
export interface KeptIcon {
  readonly address: string
  /** Milliseconds since the epoch. */
  readonly at: number
  /** The last drawing that could be shown. */
  readonly svg?: string
  /** Why there was none the last time. */
  readonly problem?: string
}

interface CacheOptions {
  readonly home: string
  readonly clock: Clock
}

/** One file for each address, replaced as a whole. What cannot be read counts as not there. */
export class IconCache {
  readonly #folder: string
  readonly #clock: Clock

  constructor({ home, clock }: CacheOptions) {
    this.#folder = homeLayout(home).icons
    this.#clock = clock
  }

  async read(address: string): Promise<KeptIcon | undefined> {
    const { content } = await this.#file(address).read()
    return content.address === address ? content : undefined
  }

  /** @throws `storage_failed` */
  async write(icon: KeptIcon): Promise<void> {
    await this.#file(icon.address).change(() => [icon, undefined])
    await this.#prune()
  }

  #file(address: string): JsonFile<KeptIcon> {
    const name = createHash('sha256').update(address).digest('hex').slice(0, 32)
    return new JsonFile({
      path: `${this.#folder}/${name}.json`,
      what: 'icon of an agent',
      schema,
      empty: { address: '', at: 0 },
      clock: this.#clock,
    })
  }

  /** Another process may do the same at the same time: what is gone is gone. */
  async #prune(): Promise<void> {
    const names = (await readdir(this.#folder)).filter((name) => name.endsWith('.json'))
    if (names.length <= ICONS_MAX) return
    const files = names.map((name) => `${this.#folder}/${name}`)
    const aged = await Promise.all(
      files.map(async (file) => ({
        file,
        at: await stat(file).then(
          ({ mtimeMs }) => mtimeMs,
          () => 0,
        ),
      })),
    )
    const oldest = aged.sort((a, b) => a.at - b.at).slice(0, names.length - ICONS_MAX)
    await Promise.all(oldest.map(({ file }) => rm(file, { force: true })))
  }
}
