import { AgentprotoError, type BrowserLogin } from '@agentproto/contracts'
import { loginCookie } from '../login-cookie.js'
import { textReply } from '../json-body.js'
import type { PublicAddress } from '../public-address.js'
import type { Handlers } from '../route.js'

/** `/auth`: a browser sends a code instead of a token, and gets its cookie. */
export function browserLoginHandlers(browsers: BrowserLogin, address: PublicAddress | undefined) {
  return {
    'POST /auth/code'({ c, body }) {
      const { code, expiresAt } = browsers.code(c.get('by'), body)
      const page = `/console/#code=${code}`
      const url = address === undefined ? {} : { url: address.url + page }
      return { code, expiresAt, path: `/auth/exchange?code=${code}`, page, ...url }
    },
    'GET /auth/me': ({ by }) => browsers.caller(by),
    async 'POST /auth/logout'({ c, by }) {
      // A program ends its token by its name: a script that tries this route must not lose its own.
      if (c.req.header('authorization') !== undefined) throw notOfBrowser(by.name)
      await browsers.logOut(by)
      const cookie = loginCookie(c, '', { maxAgeSeconds: 0, address })
      return textReply(JSON.stringify({ ok: true, name: by.name }), 200, { 'set-cookie': cookie })
    },
    async 'GET /auth/exchange'({ c, query: { code } }) {
      // A HEAD must not use up the code.
      if (c.req.method === 'HEAD') return textReply('{}')
      const login = await browsers.exchange(code)
      if (login === undefined) throw unknownCode()
      const { token, name, expiresAt, maxAgeSeconds } = login
      return textReply(JSON.stringify({ ok: true, name, expiresAt }), 200, {
        'set-cookie': loginCookie(c, token, { maxAgeSeconds, address }),
        'referrer-policy': 'no-referrer',
      })
    },
  } satisfies Partial<Handlers>
}

const notOfBrowser = (given: string): AgentprotoError =>
  new AgentprotoError('token_not_found', 'There is no login of a browser to end', {
    expected: 'the cookie of a browser',
    given,
    hint: 'Revoke a token with DELETE /tokens/:name',
  })

const unknownCode = (): AgentprotoError =>
  new AgentprotoError('unauthorized', 'Unknown code: it was used, has expired or never existed', {
    hint: 'Get another one with POST /auth/code',
  })
