import { AgentprotoError, type Clock, defined, parseJson, systemClock } from '@agentproto/contracts'
import { homeLayout, type SecretKind, type SecretPlace, type SecretStatus } from '@agentproto/contracts/agent'
import { type Keyring, openKeyring } from './keyring.js'
import type { Redactor } from './redactor.js'
import { checkSlug } from './secret-slug.js'
import { confidentialParts, parseSecretValue, partOf, type SecretValue } from './secret-value.js'
import { SecretsFile, type StoredSecret, type StoredSecrets } from './secrets-file.js'

/** A secret as a SECRETS.md declares it. */
export interface DeclaredSecret {
  readonly slug: string
  readonly kind?: SecretKind
  /** Environment variables that carry it. */
  readonly variables?: readonly string[]
  /** The part of the value that is asked for (AIP-19). Default: the whole value; for an oauth secret, its access token. */
  readonly field?: string
}

/** A secret with its value. Hand it to an agent's environment, and to nothing else. */
export interface ResolvedSecret {
  readonly slug: string
  /** The value that an agent gets: the part that was asked for. */
  readonly text: string
  readonly place: SecretPlace
  readonly expiresAt?: string
}

export interface SetOptions {
  /** Default: the keyring where one exists, else the file. */
  readonly place?: 'keyring' | 'file'
}

/** The secrets of one home. */
export interface Secrets {
  /** The stored and the declared secrets with their status, sorted by slug, never with a value. */
  list(declared?: readonly DeclaredSecret[]): Promise<readonly SecretStatus[]>
  /**
   * Looks up a secret in the environment, the keyring and the file. Registers its value for redaction.
   * @returns undefined when the secret is not set, or has no such part
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
  /** The host's environment, where declared variables are looked up. */
  readonly env: Readonly<Record<string, string | undefined>>
  /** Receives every value that is resolved or set. */
  readonly redactor?: Pick<Redactor, 'add'>
  /** Default: the operating system's. `none` keeps everything in the file. */
  readonly keyring?: Keyring | 'none'
  readonly clock?: Clock
  readonly onWarning?: (message: string) => void
}

/** Opens the secrets of a home. Reads nothing until the first call. */
export function createSecrets(options: SecretsOptions): Secrets {
  return new HomeSecrets(options)
}

/** Where a kind of secret is stored. */
export interface SecretStore {
  /** Its file. */
  readonly path: string
  /** Of its names in the keyring, so that no kind reads another. */
  readonly prefix: string
  /** @throws `invalid_request` */
  checkName(name: string): void
}

const ofAgents = (home: string): SecretStore => ({
  path: homeLayout(home).secrets,
  prefix: '',
  checkName: checkSlug,
})

/** Secrets of one kind, by name. */
export class HomeSecrets implements Secrets {
  readonly #options: SecretsOptions
  readonly #store: SecretStore
  readonly #file: SecretsFile
  readonly #clock: Clock
  #keyring: Promise<Keyring | undefined> | undefined

  constructor(options: SecretsOptions, store = ofAgents(options.home)) {
    this.#options = options
    this.#store = store
    this.#clock = options.clock ?? systemClock
    const onWarning = (message: string): void => options.onWarning?.(message)
    this.#file = new SecretsFile({ path: store.path, clock: this.#clock, onWarning })
  }

  async list(declared: readonly DeclaredSecret[] = []): Promise<readonly SecretStatus[]> {
    const stored = await this.#file.read()
    const bySlug = new Map<string, DeclaredSecret>(Object.keys(stored).map((slug) => [slug, { slug }]))
    for (const secret of declared) bySlug.set(secret.slug, merged(secret, bySlug.get(secret.slug)))
    return [...bySlug.values()]
      .map((secret) => this.#status(secret, entryOf(stored, secret.slug)))
      .sort((a, b) => (a.slug < b.slug ? -1 : 1))
  }

  async resolve(secret: DeclaredSecret): Promise<ResolvedSecret | undefined> {
    const { slug } = secret
    const fromEnvironment = this.#fromEnvironment(secret)
    if (fromEnvironment !== undefined) {
      this.#options.redactor?.add(fromEnvironment)
      return { slug, text: fromEnvironment, place: 'environment' }
    }
    const stored = entryOf(await this.#file.read(), slug)
    const value = stored === undefined ? undefined : (stored.secret ?? (await this.#readKeyring(slug)))
    if (stored === undefined || value === undefined) return undefined
    this.#register(value)
    const text = partOf(value, secret.field)
    if (text === undefined || text === '' || text.includes('\0')) return undefined
    if (secret.field !== 'expiresAt') this.#options.redactor?.add(text)
    const { place, expiresAt } = stored
    return { slug, text, place, ...defined({ expiresAt }) }
  }

  async set(slug: string, given: SecretValue, { place }: SetOptions = {}): Promise<SecretStatus> {
    this.#store.checkName(slug)
    const value = parseSecretValue(given)
    this.#register(value)
    const entry: StoredSecret = {
      kind: value.kind,
      place: 'file',
      updatedAt: new Date(this.#clock.now()).toISOString(),
      ...(value.kind === 'oauth' && value.expiresAt !== undefined ? { expiresAt: value.expiresAt } : {}),
    }
    const inKeyring = place !== 'file' && (await this.#storeInKeyring(slug, value, place === 'keyring'))
    const stored: StoredSecret = inKeyring ? { ...entry, place: 'keyring' } : { ...entry, secret: value }
    await this.#file.change((secrets) => ({ ...secrets, [slug]: stored }))
    return this.#status({ slug }, stored)
  }

  async remove(slug: string): Promise<void> {
    await this.#file.change(async (secrets) => {
      const removed = entryOf(secrets, slug)
      if (removed === undefined) throw notFound(slug, Object.keys(secrets))
      const { [slug]: _, ...rest } = secrets
      if (removed.place === 'keyring') await (await this.#openKeyring())?.delete(this.#inKeyring(slug))
      return rest
    })
  }

  #fromEnvironment({ variables = [] }: DeclaredSecret): string | undefined {
    return variables.map((name) => this.#options.env[name]).find((value) => value !== undefined && value !== '')
  }

  async #readKeyring(slug: string): Promise<SecretValue | undefined> {
    const payload = await (await this.#openKeyring())?.get(this.#inKeyring(slug))
    return payload === undefined ? undefined : parseSecretValue(parseJson(payload))
  }

  /** Whether the keyring has stored it. If the caller did not ask for the keyring, a failure means the file is used. */
  async #storeInKeyring(slug: string, value: SecretValue, wanted: boolean): Promise<boolean> {
    const keyring = await this.#openKeyring()
    if (keyring === undefined) {
      if (wanted)
        throw new AgentprotoError('storage_failed', 'This host has no keyring', {
          hint: 'Store the secret in the file: --store file',
        })
      return false
    }
    try {
      const [name, payload] = [this.#inKeyring(slug), JSON.stringify(value)]
      await keyring.set(name, payload)
      // A keychain truncates a value that is too long, without an error.
      if ((await keyring.get(name)) !== payload) throw truncated()
      return true
    } catch (thrown) {
      if (wanted) throw thrown
      this.#options.onWarning?.('The keyring rejected the secret, so it is stored in a file that only you can read.')
      return false
    }
  }

  #inKeyring(slug: string): string {
    return `${this.#store.prefix}${slug}`
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
    const place: SecretPlace | undefined = this.#fromEnvironment(secret) === undefined ? stored?.place : 'environment'
    return {
      slug,
      kind,
      set: place !== undefined,
      variables,
      ...defined({ place, updatedAt: stored?.updatedAt, expiresAt: stored?.expiresAt }),
    }
  }
}

/** Two adapters may declare the same secret with different variables. */
const merged = (secret: DeclaredSecret, before: DeclaredSecret | undefined): DeclaredSecret => ({
  ...before,
  ...secret,
  variables: [...new Set([...(before?.variables ?? []), ...(secret.variables ?? [])])],
})

/** A slug may be `constructor`, so only own properties count. */
const entryOf = (secrets: StoredSecrets, slug: string): StoredSecret | undefined =>
  Object.hasOwn(secrets, slug) ? secrets[slug] : undefined

const truncated = (): AgentprotoError =>
  new AgentprotoError('storage_failed', 'The keyring truncated the secret', {
    hint: 'Store it in the file: --store file',
  })

const notFound = (slug: string, known: readonly string[]): AgentprotoError =>
  new AgentprotoError('secret_not_found', 'There is no such secret', {
    expected: known.length === 0 ? 'a secret that is set; there is none' : `one of ${known.join(', ')}`,
    given: slug,
  })
