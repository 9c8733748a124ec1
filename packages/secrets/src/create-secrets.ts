import {
  AgentprotoError,
  type Clock,
  homeLayout,
  type SecretKind,
  type SecretPlace,
  type SecretStatus,
  systemClock,
} from '@agentproto/contracts'
import { type Keyring, openKeyring } from './keyring.js'
import type { Redactor } from './redactor.js'
import { checkSlug } from './secret-slug.js'
import { confidentialParts, parseSecretValue, type SecretValue, textOf } from './secret-value.js'
import { changeSecrets, readSecrets, type StoredSecret, type StoredSecrets } from './secrets-file.js'

/** A secret as a SECRETS.md declares it. */
export interface DeclaredSecret {
  readonly slug: string
  readonly kind?: SecretKind
  /** Environment variables that carry it. */
  readonly variables?: readonly string[]
}

/** A secret with its value. Hand it to an agent's environment, and to nothing else. */
export interface ResolvedSecret {
  readonly slug: string
  /** What an agent is given; of an oauth secret its access token. */
  readonly text: string
  readonly place: SecretPlace
  readonly expiresAt?: string
}

export interface SetOptions {
  /** Default: the keyring where there is one, else the file. */
  readonly place?: 'keyring' | 'file'
}

/** The secrets of one home. */
export interface Secrets {
  /** Those that are stored here, and how the declared ones stand; sorted by slug, never with a value. */
  list(declared?: readonly DeclaredSecret[]): Promise<readonly SecretStatus[]>
  /**
   * Finds a secret: in the environment, in the keyring, in the file. Its value is registered for redaction.
   * @returns undefined when it is not set
   * @throws `storage_failed`
   */
  resolve(secret: DeclaredSecret): Promise<ResolvedSecret | undefined>
  /** @throws `invalid_request`, `storage_failed` */
  set(slug: string, value: SecretValue, options?: SetOptions): Promise<SecretStatus>
  /** @throws `secret_not_found`, `storage_failed` */
  remove(slug: string): Promise<void>
}

export interface SecretsOptions {
  /** Folder of agentproto's state. */
  readonly home: string
  /** The host's environment: exposures are looked up in it. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Is told every value that is resolved or set. */
  readonly redactor?: Pick<Redactor, 'add'>
  /** Default: the operating system's. `none` keeps everything in the file. */
  readonly keyring?: Keyring | 'none'
  readonly clock?: Clock
  readonly onWarning?: (message: string) => void
}

/** Opens the secrets of a home; nothing is read before it is asked for. */
export function createSecrets(options: SecretsOptions): Secrets {
  return new HomeSecrets(options)
}

class HomeSecrets implements Secrets {
  readonly #options: SecretsOptions
  readonly #path: string
  readonly #clock: Clock
  #keyring: Promise<Keyring | undefined> | undefined

  constructor(options: SecretsOptions) {
    this.#options = options
    this.#path = homeLayout(options.home).secrets
    this.#clock = options.clock ?? systemClock
  }

  async list(declared: readonly DeclaredSecret[] = []): Promise<readonly SecretStatus[]> {
    const stored = await this.#read()
    const wanted = new Map<string, DeclaredSecret>(Object.keys(stored).map((slug) => [slug, { slug }]))
    for (const secret of declared) wanted.set(secret.slug, merged(secret, wanted.get(secret.slug)))
    return [...wanted.values()]
      .map((secret) => this.#status(secret, entryOf(stored, secret.slug)))
      .sort((a, b) => (a.slug < b.slug ? -1 : 1))
  }

  async resolve(secret: DeclaredSecret): Promise<ResolvedSecret | undefined> {
    const { slug } = secret
    const fromHost = this.#fromEnvironment(secret)
    if (fromHost !== undefined) {
      this.#options.redactor?.add(fromHost)
      return { slug, text: fromHost, place: 'environment' }
    }
    const stored = entryOf(await this.#read(), slug)
    const value = stored === undefined ? undefined : (stored.secret ?? (await this.#inKeyring(slug)))
    if (stored === undefined || value === undefined) return undefined
    this.#register(value)
    const { place, expiresAt } = stored
    return { slug, text: textOf(value), place, ...(expiresAt === undefined ? {} : { expiresAt }) }
  }

  async set(slug: string, given: SecretValue, { place }: SetOptions = {}): Promise<SecretStatus> {
    checkSlug(slug)
    const value = parseSecretValue(given)
    this.#register(value)
    const entry: StoredSecret = {
      kind: value.kind,
      place: 'file',
      updatedAt: new Date(this.#clock.now()).toISOString(),
      ...(value.kind === 'oauth' && value.expiresAt !== undefined ? { expiresAt: value.expiresAt } : {}),
    }
    const inKeyring = place !== 'file' && (await this.#putIntoKeyring(slug, value, place === 'keyring'))
    const stored: StoredSecret = inKeyring ? { ...entry, place: 'keyring' } : { ...entry, secret: value }
    await this.#change((secrets) => ({ ...secrets, [slug]: stored }))
    return this.#status({ slug }, stored)
  }

  async remove(slug: string): Promise<void> {
    await this.#change(async (secrets) => {
      const removed = entryOf(secrets, slug)
      if (removed === undefined) throw notFound(slug, Object.keys(secrets))
      const { [slug]: _, ...rest } = secrets
      if (removed.place === 'keyring') await (await this.#openKeyring())?.delete(slug)
      return rest
    })
  }

  #fromEnvironment({ variables = [] }: DeclaredSecret): string | undefined {
    return variables.map((name) => this.#options.env[name]).find((value) => value !== undefined && value !== '')
  }

  async #inKeyring(slug: string): Promise<SecretValue | undefined> {
    const payload = await (await this.#openKeyring())?.get(slug)
    return payload === undefined ? undefined : parseSecretValue(parsed(payload))
  }

  /** Whether it is there. A keyring that nobody asked for by name may fail: then it is the file's. */
  async #putIntoKeyring(slug: string, value: SecretValue, wanted: boolean): Promise<boolean> {
    const keyring = await this.#openKeyring()
    if (keyring === undefined) {
      if (wanted) throw new AgentprotoError('storage_failed', 'This host has no keyring', { hint: 'Use --store file' })
      return false
    }
    try {
      const payload = JSON.stringify(value)
      await keyring.set(slug, payload)
      // A keychain cuts what is too long for it without a word.
      if ((await keyring.get(slug)) !== payload) throw notKept()
      return true
    } catch (thrown) {
      if (wanted) throw thrown
      this.#options.onWarning?.('The keyring refused, so the secret is kept in a file that only you can read.')
      return false
    }
  }

  #openKeyring(): Promise<Keyring | undefined> {
    const { keyring, env, home } = this.#options
    this.#keyring ??=
      keyring === undefined ? openKeyring({ env, home }) : Promise.resolve(keyring === 'none' ? undefined : keyring)
    return this.#keyring
  }

  #register(value: SecretValue): void {
    for (const part of confidentialParts(value)) this.#options.redactor?.add(part)
  }

  #status(secret: DeclaredSecret, stored: StoredSecret | undefined): SecretStatus {
    const { slug, kind = stored?.kind ?? 'opaque', variables = [] } = secret
    const place = this.#fromEnvironment(secret) === undefined ? stored?.place : 'environment'
    return {
      slug,
      kind,
      set: place !== undefined,
      variables,
      ...(place === undefined ? {} : { place }),
      ...(stored === undefined ? {} : { updatedAt: stored.updatedAt }),
      ...(stored?.expiresAt === undefined ? {} : { expiresAt: stored.expiresAt }),
    }
  }

  #read(): Promise<StoredSecrets> {
    return readSecrets(this.#path, (message) => this.#options.onWarning?.(message))
  }

  #change(change: (secrets: StoredSecrets) => StoredSecrets | Promise<StoredSecrets>): Promise<void> {
    return changeSecrets(this.#path, change, (message) => this.#options.onWarning?.(message))
  }
}

/** Two adapters may declare one secret, each with variables of its own. */
const merged = (secret: DeclaredSecret, before: DeclaredSecret | undefined): DeclaredSecret => ({
  ...before,
  ...secret,
  variables: [...new Set([...(before?.variables ?? []), ...(secret.variables ?? [])])],
})

/** `constructor` is a slug like any other. */
const entryOf = (secrets: StoredSecrets, slug: string): StoredSecret | undefined =>
  Object.hasOwn(secrets, slug) ? secrets[slug] : undefined

const notKept = (): AgentprotoError =>
  new AgentprotoError('storage_failed', 'The keyring did not keep the secret whole', { hint: 'Use --store file' })

const notFound = (slug: string, known: readonly string[]): AgentprotoError =>
  new AgentprotoError('secret_not_found', 'There is no such secret', {
    expected: known.length === 0 ? 'a secret that was set, of which there is none' : `one of ${known.join(', ')}`,
    given: slug,
  })

function parsed(payload: string): unknown {
  try {
    return JSON.parse(payload)
  } catch {
    return undefined
  }
}
