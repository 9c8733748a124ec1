import { AgentprotoError } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import { HomeSecrets, type Secrets, type SecretsOptions, type SecretStore, type SetOptions } from './create-secrets.js'

/** A gateway elsewhere whose token is stored. */
export interface StoredGateway {
  readonly url: string
  readonly place: 'keyring' | 'file'
  readonly updatedAt: string
}

/** The tokens that this user has for gateways elsewhere, by their exact address. */
export interface GatewayTokens {
  /** Sorted by address, never with a token. */
  list(): Promise<readonly StoredGateway[]>
  /** Registers it for redaction. @throws `storage_failed` */
  get(url: string): Promise<string | undefined>
  /** @throws `invalid_request`, `storage_failed` */
  set(url: string, token: string, options?: SetOptions): Promise<StoredGateway>
  /** Returns whether there was one. @throws `storage_failed` */
  remove(url: string): Promise<boolean>
}

/**
 * Opens the tokens of a home for gateways elsewhere. They are not among the secrets of agents: no adapter can declare one, and
 * none of them reaches an agent's environment.
 */
export function createGatewayTokens(options: SecretsOptions): GatewayTokens {
  const secrets: Secrets = new HomeSecrets(options, storeOf(options.home))
  const list = async (): Promise<readonly StoredGateway[]> => (await secrets.list()).flatMap(storedGateway)
  return {
    list,
    get: async (url) => (await secrets.resolve({ slug: url }))?.text,
    async set(url, value, where) {
      const [stored] = storedGateway(await secrets.set(url, { kind: 'opaque', value: checked(value) }, where))
      if (stored === undefined) throw new AgentprotoError('internal', 'The token was stored nowhere', { given: url })
      return stored
    },
    async remove(url) {
      const isStored = (await list()).some((known) => known.url === url)
      if (isStored) await secrets.remove(url)
      return isStored
    },
  }
}

const storeOf = (home: string): SecretStore => ({
  path: homeLayout(home).gatewayTokens,
  // No secret of an agent has a colon in its name.
  prefix: 'gateway:',
  checkName: checkAddress,
})

function storedGateway({ slug, place, updatedAt }: Awaited<ReturnType<Secrets['set']>>): readonly StoredGateway[] {
  return place === undefined || place === 'environment' || updatedAt === undefined
    ? []
    : [{ url: slug, place, updatedAt }]
}

const ADDRESS_CHARS_MAX = 1_024

/** The caller has parsed it: this keeps anything else out of the file and the keyring. */
function checkAddress(url: string): void {
  if (url.length <= ADDRESS_CHARS_MAX && /^https?:\/\/[^\s?#@\\"']+$/.test(url)) return
  throw new AgentprotoError('invalid_request', 'The address of the gateway is not valid', {
    expected: `an http or https address of at most ${ADDRESS_CHARS_MAX} characters, without user, ? and #`,
    data: { field: 'url' },
  })
}

/** What a header may carry. The text is not repeated: it is a secret, or a part of one. */
function checked(token: string): string {
  if (/^[\x21-\x7e]{8,4096}$/.test(token)) return token
  throw new AgentprotoError('invalid_request', 'That is no token', {
    expected: '8 to 4096 characters on one line, as agentproto token create prints them',
  })
}
