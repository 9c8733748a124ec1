import { expect, test } from 'vitest'
import { openParams, readHandshake } from '../src/capabilities.js'

test('metadata of the host is the _meta of the request that opens the session', () => {
  const { info } = readHandshake({ protocolVersion: 1 })
  const opening = { cwd: '/work', additionalDirectories: [], mcpServers: [], origin: { how: 'new' } } as const
  const meta = { systemPrompt: { append: 'Be brief.' } }
  expect(openParams({ ...opening, meta }, info.capabilities).params).toEqual({
    cwd: '/work',
    mcpServers: [],
    _meta: meta,
  })
  expect(openParams(opening, info.capabilities).params).toEqual({ cwd: '/work', mcpServers: [] })
})
