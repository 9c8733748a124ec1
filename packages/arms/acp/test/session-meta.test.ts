import { expect, test } from 'vitest'
import { grounds, readHandshake } from '../src/capabilities.js'

test('what a host gives beside the ground goes as _meta of the request that opens the session', () => {
  const { info } = readHandshake({ protocolVersion: 1 })
  const opening = { cwd: '/work', additionalDirectories: [], mcpServers: [], origin: { how: 'new' } } as const
  const meta = { systemPrompt: { append: 'Be brief.' } }
  expect(grounds({ ...opening, meta }, info.capabilities).params).toEqual({ cwd: '/work', mcpServers: [], _meta: meta })
  expect(grounds(opening, info.capabilities).params).toEqual({ cwd: '/work', mcpServers: [] })
})
