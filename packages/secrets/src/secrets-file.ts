import { chmod, mkdir, readFile, rename, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { AgentprotoError, parseJson } from '@agentproto/contracts'
import * as z from 'zod'
import { valueSchema } from './secret-value.js'

/** The file `secrets.json`: readable only by its owner, replaced as a whole under a lock. */

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

type Warn = (message: string) => void

/** The stored secrets. An invalid file counts as empty, with a warning. @throws `storage_failed` */
export async function readSecrets(path: string, warn: Warn): Promise<StoredSecrets> {
  const read = await readState(path)
  if (read.state === 'unreadable') warn(`${path} is ignored: its format is not the one of this version.`)
  if (read.state !== 'read') return {}
  await keepPrivate(path, warn)
  return read.secrets
}

/**
 * Changes the stored secrets, under a lock between processes.
 * @throws `storage_failed`
 */
export async function changeSecrets(
  path: string,
  change: (secrets: StoredSecrets) => StoredSecrets | Promise<StoredSecrets>,
  warn: Warn,
): Promise<void> {
  await withLock(path, async () => {
    const read = await readState(path)
    if (read.state === 'unreadable') {
      const aside = `${path}.unreadable-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
      await rename(path, aside)
      warn(`${path} had another format than the one of this version. It was moved to ${aside}.`)
    }
    const secrets = await change(read.state === 'read' ? read.secrets : {})
    const { default: writeFileAtomic } = await import('write-file-atomic')
    await writeFileAtomic(path, `${JSON.stringify({ version: 1, secrets }, undefined, 2)}\n`, { mode: 0o600 })
  })
}

type State =
  | { readonly state: 'absent' }
  | { readonly state: 'unreadable' }
  | { readonly state: 'read'; readonly secrets: StoredSecrets }

async function readState(path: string): Promise<State> {
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (thrown) {
    if (codeOf(thrown) === 'ENOENT') return { state: 'absent' }
    throw failed(path, 'read', thrown)
  }
  const result = fileSchema.safeParse(parseJson(text))
  return result.success ? { state: 'read', secrets: result.data.secrets } : { state: 'unreadable' }
}

/** A backup or an editor may have made the file readable by others. */
async function keepPrivate(path: string, warn: Warn): Promise<void> {
  const { mode } = await stat(path)
  if (process.platform === 'win32' || (mode & 0o077) === 0) return
  await chmod(path, 0o600)
  warn(`${path} could be read by other users. Now only its owner can read it.`)
}

async function withLock(path: string, run: () => Promise<void>): Promise<void> {
  const { lock } = await import('proper-lockfile')
  let release: (() => Promise<void>) | undefined
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 })
    release = await lock(path, {
      // The file may not exist yet.
      realpath: false,
      retries: { retries: 150, factor: 1.2, minTimeout: 5, maxTimeout: 100, randomize: true },
      stale: 60_000,
      // A keyring that waits for its owner may hold the lock for longer than it is valid. The file is replaced as a whole anyway.
      onCompromised: () => undefined,
    })
    await run()
  } catch (thrown) {
    throw failed(path, release === undefined ? 'locked' : 'written', thrown)
  } finally {
    await release?.().catch(() => undefined)
  }
}

function failed(path: string, what: 'read' | 'locked' | 'written', cause: unknown): unknown {
  if (cause instanceof AgentprotoError) return cause
  return new AgentprotoError('storage_failed', `The secrets file cannot be ${what}: ${path}`, { cause })
}

const codeOf = (thrown: unknown): string | undefined =>
  thrown instanceof Error && 'code' in thrown ? String(thrown.code) : undefined
