import { timingSafeEqual } from 'node:crypto'
import type { Authenticate, Clock, Principal, WorkspaceService } from '@agentproto/contracts'
import type { HomeLayout } from '@agentproto/contracts/agent'
import type { Audit } from '../audit/audit.js'
import { ownerToken } from './owner-token.js'
import { KeptTokens } from './kept-tokens.js'
import { SessionTokens } from './session-tokens.js'
import { TokenStore } from './token-store.js'

export interface AccessOptions {
  readonly clock: Clock
  readonly layout: HomeLayout
  /** Tokens are not stored. */
  readonly inMemory: boolean
  /** Agents may outlive the gateway: what proves their tokens is stored. */
  readonly keeper?: { readonly enabled: boolean }
  /** The owner's token. Default: the one in the home, created at the first start. */
  readonly token?: string
}

/** Who may call a gateway. */
export type Access = ReturnType<typeof openAccess>

interface Parts {
  readonly redactor: { add(value: string): void }
  readonly onProblem: (problem: string) => void
  readonly audit: Audit
  readonly workspaces: Pick<WorkspaceService, 'list'>
}

export function openAccess(options: AccessOptions, { redactor, onProblem, audit, workspaces }: Parts) {
  const { clock, layout, inMemory } = options
  const token = options.token ?? (inMemory ? crypto.randomUUID() : ownerToken(layout.token, onProblem))
  const owner = authenticateOwner(token)
  const named = new TokenStore({ path: inMemory ? undefined : layout.tokens, clock, onProblem, workspaces })
  const isKept = options.keeper?.enabled === true && !inMemory
  const sessionTokens = new SessionTokens(isKept ? new KeptTokens(layout.sessionTokens, onProblem) : undefined)
  // Tokens are known by their shape. Of the owner's also each half of the secret: one of them shows where the other is cut.
  for (const part of [token, token.slice(-43, -21), token.slice(-21)]) redactor.add(part)
  const endOf = (by: Principal): AbortSignal | undefined => {
    if (by.type === 'owner') return undefined
    return by.type === 'session' ? sessionTokens.endOf(by.sessionId) : named.endOf(by.name)
  }
  return {
    /** The owner's token. */
    token,
    tokens: audit.wrap('tokens', named),
    sessionTokens,
    // The owner first: most calls are the owner's, and its check costs no hash.
    authenticate: (given: string) => owner(given) ?? named.authenticate(given) ?? sessionTokens.authenticate(given),
    /** Stores when tokens were last used. */
    close: () => named.close(),
    /** A signal that aborts when the token of a principal ends; the owner's does not. */
    revoked: (by: Principal) => (by.type === 'session' ? sessionTokens.revoked(by) : named.revoked(by)),
    /** The same, also for a copy of the principal: undefined for one that no token here has. */
    endOf,
  }
}

/**
 * Compares two buffers of the same size, so that the duration of a guess reveals neither the content nor the length of the
 * token. Not a digest: this runs for every request.
 */
export function authenticateOwner(token: string): Authenticate {
  const expected = padded(token, Buffer.alloc(Math.max(LEAST_BYTES, LENGTH_BYTES + Buffer.byteLength(token))))
  const given = Buffer.alloc(expected.length)
  return (guess) => (timingSafeEqual(padded(guess, given), expected) ? { type: 'owner', name: 'owner' } : undefined)
}

const LENGTH_BYTES = 4
const LEAST_BYTES = 256

/** The length comes first: a longer guess is cut, and must not pass as its own beginning. */
function padded(token: string, buffer: Buffer): Buffer {
  buffer.fill(0)
  buffer.writeUInt32LE(Buffer.byteLength(token))
  buffer.write(token, LENGTH_BYTES)
  return buffer
}
