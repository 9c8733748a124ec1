import type { NamedToken, TokenService } from '@agentproto/contracts'
import type { Transport } from './transport.js'

/** The named tokens of a gateway; needs the owner or the scope `admin`. */
export function tokensClient(transport: Transport): TokenService {
  const at = (name: string, rest = ''): string => `/tokens/${encodeURIComponent(name)}${rest}`
  return {
    async list() {
      const { tokens } = await transport.json<{ tokens: NamedToken[] }>({ path: '/tokens' })
      return tokens
    },
    create: (body) => transport.json({ method: 'POST', path: '/tokens', body }),
    async revoke(name) {
      await transport.json({ method: 'DELETE', path: at(name) })
    },
    rotate: (name) => transport.json({ method: 'POST', path: at(name, '/rotate') }),
  }
}
