import { expect, test } from 'vitest'
import { authenticateOwner } from '../src/access/access.js'

const OWNER = { type: 'owner', name: 'owner' }

test.each([
  ['a usual one', 'agp_o_0123456789abcdef_0123456789abcdef'],
  ['one beyond the usual', 'x'.repeat(1_000)],
  ['one that is not ASCII', 'schlüssel'],
])('only the whole token identifies the owner: %s', (_, token) => {
  const authenticate = authenticateOwner(token)
  expect(authenticate(token)).toEqual(OWNER)
  for (const guess of [
    '',
    token.slice(0, -1),
    `${token}x`,
    `${token}\0`,
    token + token,
    token.toUpperCase(),
    'y'.repeat(5_000),
  ])
    expect(authenticate(guess), guess).toBeUndefined()
  expect(authenticate(token)).toEqual(OWNER)
})
