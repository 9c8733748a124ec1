import { chmodSync, statSync } from 'node:fs'
import type { Clock } from '@agentproto/contracts'
import { JsonFile } from '@agentproto/json-file'
import * as z from 'zod'
import { valueSchema } from './secret-value.js'

const entrySchema = z.strictObject({
  kind: z.enum(['opaque', 'oauth', 'keypair', 'json']),
  place: z.enum(['keyring', 'file']),
  updatedAt: z.string(),
  expiresAt: z.string().exactOptional(),
  /** Absent when the value is in the keyring. */
  secret: valueSchema.exactOptional(),
})

const fileSchema = z.strictObject({ version: z.literal(1), secrets: z.record(z.string(), entrySchema) })

export type StoredSecret = z.infer<typeof entrySchema>
export type StoredSecrets = Readonly<Record<string, StoredSecret>>

export interface SecretsFileOptions {
  readonly path: string
  readonly clock: Clock
  readonly onWarning: (message: string) => void
}

/** The file `secrets.json`: readable only by its owner, replaced as a whole under a lock. */
export class SecretsFile {
  readonly #options: SecretsFileOptions
  readonly #file: JsonFile<z.infer<typeof fileSchema>>
  #running: Promise<unknown> = Promise.resolve()
  /** The read that has not begun: for all who ask until then. */
  #next: Promise<StoredSecrets> | undefined

  constructor(options: SecretsFileOptions) {
    this.#options = options
    this.#file = new JsonFile({
      ...options,
      what: 'secrets file',
      schema: fileSchema,
      empty: { version: 1, secrets: {} },
      // A keyring that waits for its owner may hold the lock for longer than it is valid. The file is replaced as a whole anyway.
      lock: { staleMs: 60_000, mayBeLost: true },
    })
  }

  /**
   * The stored secrets as they are after the call. Many calls at once, as by a gateway that goes on with its agents, are two reads.
   * An invalid file counts as empty, with a warning.
   * @throws `storage_failed`
   */
  read(): Promise<StoredSecrets> {
    this.#next ??= this.#readNext()
    return this.#next
  }

  async #readNext(): Promise<StoredSecrets> {
    await this.#running.catch(() => {})
    this.#next = undefined
    const reading = this.#readFile()
    this.#running = reading
    return reading
  }

  async #readFile(): Promise<StoredSecrets> {
    const { path, onWarning } = this.#options
    const { content, problem } = await this.#file.read()
    if (problem === undefined) keepPrivate(path, onWarning)
    else onWarning(`${path} is ignored: ${problem}.`)
    return content.secrets
  }

  /** Changes the stored secrets, under a lock between processes. @throws `storage_failed` */
  change(change: (secrets: StoredSecrets) => StoredSecrets | Promise<StoredSecrets>): Promise<void> {
    return this.#file.change(async (before) => [{ ...before, secrets: await change(before.secrets) }, undefined])
  }
}

/** A backup or an editor may have made the file readable by others. */
function keepPrivate(path: string, warn: (message: string) => void): void {
  const { mode = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {}
  if (process.platform === 'win32' || (mode & 0o077) === 0) return
  chmodSync(path, 0o600)
  warn(`${path} could be read by other users. Now only its owner can read it.`)
}
