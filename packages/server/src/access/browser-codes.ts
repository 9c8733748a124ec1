import { randomBytes } from 'node:crypto'
import {
  AgentprotoError,
  type BrowserLogin,
  type Clock,
  type Principal,
  type TokenService,
} from '@agentproto/contracts'
import type { BrowserCodeRequest, Caller } from '@agentproto/contracts/wire'
import { newToken, tokenDigest } from './token-format.js'

const CODE_MS = 60_000
const LOGIN_MS = 12 * 60 * 60 * 1_000
/** Codes of one caller that are not used yet: a caller cannot keep others from logging in. */
const MAX_CODES = 16

/**
 * Browser logins: a code, valid once and for a minute, is exchanged for a named token that expires by itself.
 * @param revoked a signal that aborts when the token of a principal ends: its codes end with it
 */
export function browserCodes(
  tokens: TokenService,
  clock: Clock,
  revoked: (by: Principal) => AbortSignal | undefined,
): BrowserLogin {
  /** By digest, so that the duration of a lookup reveals nothing about a code. */
  const pending = new Map<
    string,
    { readonly until: number; readonly by: Principal; readonly request: BrowserCodeRequest }
  >()
  return {
    code(by, request = {}) {
      if (request.workspaces && (request.scope ?? 'admin') === 'admin') throw boundAdmin()
      const now = clock.now()
      for (const [digest, { until }] of pending) if (until <= now) pending.delete(digest)
      const own = [...pending.values()].filter((code) => code.by.name === by.name)
      if (own.length >= MAX_CODES) throw tooMany()
      const { token: code } = newToken('c')
      pending.set(digestOf(code), { until: now + CODE_MS, by, request })
      return { code, expiresAt: at(now + CODE_MS) }
    },
    async exchange(code) {
      const digest = digestOf(code)
      const found = pending.get(digest)
      pending.delete(digest)
      const now = clock.now()
      if (found === undefined || found.until <= now || revoked(found.by)?.aborted) return undefined
      const expiresAt = at(now + LOGIN_MS)
      const name = `browser-${randomBytes(4).toString('hex')}`
      const { scope = 'admin', workspaces } = found.request
      const { token } = await tokens.create({ name, scope, workspaces, expiresAt }, found.by)
      return { token, name, expiresAt, maxAgeSeconds: LOGIN_MS / 1_000 }
    },
    async logOut(by) {
      if (by.type !== 'token') throw noLogin(by)
      await tokens.revoke(by.name, by, { keepCreated: true })
    },
    caller: callerOf,
  }
}

function callerOf(by: Principal): Caller {
  switch (by.type) {
    case 'owner':
      return { name: by.name, type: by.type, scope: 'admin' }
    case 'token':
      return { name: by.name, type: by.type, scope: by.scope, ...(by.workspaces && { workspaces: [...by.workspaces] }) }
    case 'session':
      return { name: by.name, type: by.type, scope: by.delegates ? 'operate' : 'read' }
  }
}

const at = (time: number): string => new Date(time).toISOString()
const digestOf = (code: string): string => tokenDigest(code).toString('hex')

const boundAdmin = (): AgentprotoError =>
  new AgentprotoError('invalid_request', 'A login with the scope admin cannot be bound to workspaces', {
    expected: 'the scope read or operate together with workspaces',
  })

const noLogin = ({ name }: Principal): AgentprotoError =>
  new AgentprotoError('token_not_found', 'There is no login of a browser to end', {
    expected: 'the cookie of a browser',
    given: name,
  })

const tooMany = (): AgentprotoError =>
  new AgentprotoError('token_limit_reached', `There are ${MAX_CODES} unused login codes, the maximum`, {
    hint: `Use one, or wait: each expires after ${CODE_MS / 1_000} s`,
  })
