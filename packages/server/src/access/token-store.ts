import { chmodSync, readFileSync, renameSync } from 'node:fs'
import {
  AgentprotoError,
  type Clock,
  defined,
  type NamedToken,
  type NewToken,
  type Principal,
  type TokenPrincipal,
  type TokenRequest,
  type Workspace,
  type CreatedTokens,
  type EndOptions,
  type RotatedToken,
  type TokenService,
  type WorkspaceService,
} from '@agentproto/contracts'
import { coversWorkspace, createTokenSchema } from '@agentproto/contracts/wire'
import writeAtomic from 'write-file-atomic'
import * as z from 'zod'
import { withoutToken } from './created-tokens.js'
import { LastUses } from './last-uses.js'
import { isToken, newToken, tokenDigest, tokenId } from './token-format.js'

export interface TokenStoreOptions {
  /** Undefined: the tokens end with the process. */
  readonly path: string | undefined
  readonly clock: Clock
  readonly onProblem: (problem: string) => void
  /** The workspaces that tokens are bound to. */
  readonly workspaces: Pick<WorkspaceService, 'list'>
}

const MAX_TOKENS = 100

const idSchema = z.string().regex(/^[0-9a-f]{16}$/)
const storedSchema = z.strictObject({
  ...createTokenSchema.shape,
  workspaces: createTokenSchema.shape.workspaces.unwrap().exactOptional(),
  /** Absent in files of older versions: such a token covers none of its workspaces. */
  folders: z.record(z.string(), z.string()).exactOptional(),
  id: idSchema,
  /** The id of the token that created it; absent for the owner. */
  createdBy: idSchema.exactOptional(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  createdAt: z.string(),
  rotatedAt: z.string().exactOptional(),
  expiresAt: z.iso.datetime().exactOptional(),
  lastUsedAt: z.iso.datetime().exactOptional(),
})
const fileSchema = z.strictObject({ version: z.literal(1), tokens: z.array(storedSchema).max(MAX_TOKENS) })
type Stored = z.infer<typeof storedSchema>

interface Held {
  readonly stored: Stored
  readonly digest: Buffer
  readonly principal: TokenPrincipal
  readonly ended: AbortController
}

/** The named tokens of a home: their digests are in a file that only the owner reads, their values nowhere. */
export class TokenStore implements TokenService {
  readonly #options: TokenStoreOptions
  #held: ReadonlyMap<string, Held> = new Map()
  #last: Promise<unknown> = Promise.resolve()
  readonly #uses = new LastUses()
  #isClosed = false

  constructor(options: TokenStoreOptions) {
    this.#options = options
    this.#held = this.#hold(options.path === undefined ? [] : readTokens(options.path, options))
  }

  /** The principal of a token; undefined if it is none of these. */
  authenticate(token: string): Principal | undefined {
    const found = this.#held.get(tokenId('t', token) ?? '')
    if (found === undefined || !isToken(token, found.digest)) return undefined
    if (this.#isExpired(found.stored)) return undefined
    if (this.#uses.add(found.stored, this.#options.clock.now())) this.#storeUses()
    return found.principal
  }

  /** Stores what is not stored yet, and nothing more after it: another process may have the home then. */
  async close(): Promise<void> {
    if (!this.#uses.areStored) this.#storeUses()
    this.#isClosed = true
    await this.#last
  }

  /** As {@link revoked}, by the name of the token: also for a copy of its principal. Undefined where there is none of that name. */
  endOf(name: string): AbortSignal | undefined {
    for (const { stored, ended } of this.#held.values()) if (stored.name === name) return ended.signal
    return undefined
  }

  /** Aborts when the token of a principal is revoked or rotated. */
  revoked(by: Principal): AbortSignal | undefined {
    if (by.type !== 'token') return undefined
    for (const { principal, ended } of this.#held.values()) if (principal === by) return ended.signal
    // It was revoked between its check and this call.
    return AbortSignal.abort()
  }

  async list(): Promise<readonly NamedToken[]> {
    const { workspaces } = await this.#options.workspaces.list()
    const tokens = this.#valid()
    return tokens.map((token) => {
      const isLost = (slug: string): boolean => !workspaces.some((each) => each.slug === slug && covers(token, each))
      const lost = token.workspaces?.filter(isLost) ?? []
      return { ...shown(token, tokens), ...(lost.length > 0 && { lost }) }
    })
  }

  async create(request: TokenRequest, by?: Principal): Promise<NewToken> {
    const { name, scope, workspaces, expiresAt } = request
    assertSound(request)
    const folders = workspaces && (await this.#foldersOf(workspaces))
    return this.#change((tokens) => {
      if (tokens.some((token) => token.name === name)) throw taken(name)
      if (tokens.length >= MAX_TOKENS) throw tooMany()
      const { token, ...proof } = mint()
      const bounds = defined({ workspaces: workspaces && [...new Set(workspaces)], folders, expiresAt })
      const stored: Stored = { name, scope, ...proof, createdAt: this.#now(), ...bounds, ...creatorOf(tokens, by) }
      return [[...tokens, stored], { ...shown(stored, tokens), token }]
    })
  }

  revoke(name: string, _by?: Principal, { keepCreated = false }: EndOptions = {}): Promise<CreatedTokens> {
    return this.#change((tokens) => {
      const found = byName(tokens, name)
      const { left, ...created } = withoutToken(tokens, found, { keepCreated, heir: found.createdBy })
      return [left, created]
    })
  }

  rotate(name: string, _by?: Principal, { keepCreated = false }: EndOptions = {}): Promise<RotatedToken> {
    return this.#change((tokens) => {
      const found = byName(tokens, name)
      const { token, ...proof } = mint()
      const { left, ...created } = withoutToken(tokens, found, { keepCreated, heir: proof.id })
      const stored: Stored = { ...found, ...proof, rotatedAt: this.#now() }
      return [[...left, stored], { ...shown(stored, left), token, ...created }]
    })
  }

  #storeUses(): void {
    if (this.#isClosed) return
    this.#change((tokens) => [tokens, undefined]).catch((thrown: unknown) =>
      this.#options.onProblem(`The last use of a token is not stored: ${String(thrown)}`),
    )
  }

  /** @throws `workspace_not_found` */
  async #foldersOf(slugs: readonly string[]): Promise<Readonly<Record<string, string>>> {
    const { workspaces } = await this.#options.workspaces.list()
    const folders = slugs.map((slug) => {
      const found = workspaces.find((each) => each.slug === slug)
      if (found !== undefined) return [slug, found.path] as const
      throw noWorkspace(slug, workspaces)
    })
    return Object.fromEntries(folders)
  }

  #now(): string {
    return new Date(this.#options.clock.now()).toISOString()
  }

  /** Tokens that have not expired. Expired ones are removed with the next change; what they created stays. */
  #valid(): readonly Stored[] {
    const all = Array.from(this.#held.values(), ({ stored }) => this.#uses.with(stored))
    const expired = all.filter((stored) => this.#isExpired(stored))
    return expired.reduce<readonly Stored[]>(
      (tokens, token) => withoutToken(tokens, token, { keepCreated: true, heir: token.createdBy }).left,
      all,
    )
  }

  #isExpired({ expiresAt }: Stored): boolean {
    return expiresAt !== undefined && Date.parse(expiresAt) <= this.#options.clock.now()
  }

  /** By id. A token that was there before keeps its principal and its signal, so that its streams stay open. */
  #hold(tokens: readonly Stored[], before: ReadonlyMap<string, Held> = this.#held): ReadonlyMap<string, Held> {
    return new Map(tokens.map((stored) => [stored.id, { ...(before.get(stored.id) ?? this.#open(stored)), stored }]))
  }

  #open(stored: Stored): Held {
    const { clock } = this.#options
    const { name, scope, sha256, expiresAt } = stored
    const principal: TokenPrincipal = { type: 'token', name, scope, ...boundsOf(stored), ...defined({ expiresAt }) }
    const ended = new AbortController()
    // Its open streams end when it expires.
    if (expiresAt !== undefined) clock.after(Date.parse(expiresAt) - clock.now(), () => ended.abort())
    return { stored, digest: Buffer.from(sha256, 'hex'), principal, ended }
  }

  /** One change at a time; it takes effect when it is on the disk. */
  #change<T>(change: (tokens: readonly Stored[]) => readonly [readonly Stored[], T]): Promise<T> {
    const turn = this.#last.then(async () => {
      const [tokens, result] = change(this.#valid())
      await this.#write(tokens)
      const before = this.#held
      this.#held = this.#hold(tokens)
      for (const [id, { ended }] of before) if (!this.#held.has(id)) ended.abort()
      return result
    })
    this.#last = turn.catch(() => undefined)
    return turn
  }

  async #write(tokens: readonly Stored[]): Promise<void> {
    const { path } = this.#options
    if (path === undefined) return
    try {
      await writeAtomic(path, `${JSON.stringify({ version: 1, tokens }, undefined, 2)}\n`, { mode: 0o600 })
    } catch (cause) {
      throw new AgentprotoError('storage_failed', 'The tokens could not be stored', { given: path, cause })
    }
  }
}

/** A token as it is listed. @param tokens One of them may have created it */
function shown(
  { id: _id, sha256: _sha256, folders: _folders, ...token }: Stored,
  tokens: readonly Stored[],
): NamedToken {
  const { createdBy: creator, ...rest } = token
  return { ...rest, ...defined({ createdBy: tokens.find(({ id }) => id === creator)?.name }) }
}

const boundsOf = ({ workspaces, folders = {} }: Stored): Pick<TokenPrincipal, 'workspaces' | 'folders'> =>
  workspaces === undefined ? {} : { workspaces, folders }

const covers = (stored: Stored, workspace: Pick<Workspace, 'slug' | 'path'>): boolean =>
  coversWorkspace(boundsOf(stored), workspace)

/** Its creator must not have ended meanwhile: the new token could not end with it. */
function creatorOf(tokens: readonly Stored[], by: Principal | undefined): Pick<Stored, 'createdBy'> {
  if (by?.type !== 'token') return {}
  const found = tokens.find(({ name }) => name === by.name)
  if (found !== undefined) return { createdBy: found.id }
  throw new AgentprotoError('unauthorized', 'The token that made the request has ended', { given: by.name })
}

function mint(): { readonly token: string; readonly id: string; readonly sha256: string } {
  const { token, id } = newToken('t')
  return { token, id, sha256: tokenDigest(token).toString('hex') }
}

/** An unreadable file is moved aside, and no named token is valid then. */
function readTokens(path: string, { clock, onProblem }: TokenStoreOptions): readonly Stored[] {
  const text = textOf(path)
  if (text === undefined) return []
  try {
    const { tokens } = fileSchema.parse(JSON.parse(text))
    chmodSync(path, 0o600)
    return tokens
  } catch {
    const aside = `${path}.unreadable-${clock.now()}`
    renameSync(path, aside)
    onProblem(`The tokens could not be read; the file was moved to ${aside}, and no named token is valid.`)
    return []
  }
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new AgentprotoError('storage_failed', 'The tokens could not be read', { given: path, cause: error })
  }
}

/** An admin can register any folder as a workspace, and so leave every bound. */
function assertSound({ scope, workspaces }: TokenRequest): void {
  if (workspaces === undefined || scope !== 'admin') return
  throw new AgentprotoError('invalid_request', 'A token with the scope admin cannot be bound to workspaces', {
    expected: 'the scope read or operate, or no workspaces',
    given: scope,
  })
}

function byName(tokens: readonly Stored[], name: string): Stored {
  const found = tokens.find((token) => token.name === name)
  if (found !== undefined) return found
  throw new AgentprotoError('token_not_found', 'There is no token of that name', {
    given: name,
    hint: 'List them with: agentproto token list',
  })
}

function noWorkspace(given: string, known: readonly Pick<Workspace, 'slug'>[]): AgentprotoError {
  const slugs = known.map(({ slug }) => slug)
  return new AgentprotoError('workspace_not_found', `There is no workspace ${given}`, {
    expected: slugs.length === 0 ? 'a registered workspace; there is none' : `one of ${slugs.join(', ')}`,
    given,
    hint: 'Add it first with: agentproto workspace add <folder>',
    data: { known: slugs },
  })
}

const taken = (given: string): AgentprotoError =>
  new AgentprotoError('token_exists', 'There is already a token of that name', {
    given,
    hint: `Choose another name, or give the token a new value: agentproto token rotate ${given}`,
  })

const tooMany = (): AgentprotoError =>
  new AgentprotoError('token_limit_reached', `There are ${MAX_TOKENS} tokens, the maximum of a home`, {
    hint: 'Revoke one with: agentproto token revoke <name>',
  })
