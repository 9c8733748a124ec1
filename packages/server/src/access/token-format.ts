import { createHash, randomBytes, timingSafeEqual } from 'node:crypto'
import { TOKEN_SHAPE } from '@agentproto/contracts'

/** Owner, named token, session, browser code. */
type TokenKind = 'o' | 't' | 's' | 'c'

/** `agp_<kind>_<id>_<secret>`: the id finds an entry, the digest of the whole proves it. Logs redact the shape. */
export function newToken(kind: TokenKind): { readonly token: string; readonly id: string } {
  const id = randomBytes(8).toString('hex')
  return { token: `agp_${kind}_${id}_${randomBytes(32).toString('base64url')}`, id }
}

/** The id in a token; undefined if it is not of that kind. */
export function tokenId(kind: TokenKind, token: string): string | undefined {
  const isShaped =
    token.length === TOKEN_SHAPE.length && TOKEN_SHAPE.every((chars, at) => chars.includes(token.charAt(at)))
  return isShaped && token[4] === kind ? token.slice(6, 22) : undefined
}

export const tokenDigest = (token: string): Buffer => createHash('sha256').update(token).digest()

/** Constant time: the duration of a guess reveals nothing. */
export const isToken = (guess: string, digest: Buffer): boolean => timingSafeEqual(tokenDigest(guess), digest)
