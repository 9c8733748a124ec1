import { defineAcp } from '@agentproto/acp'
import type { AcpProfile } from '@agentproto/acp'
import { expect, test } from 'vitest'
import { fixture } from './connecting.ts'

const profile: AcpProfile = {
  name: 'demo-acp',
  id: 'demo-acp',
  description: 'A profile.',
  version: '1.0.0',
  kind: 'server',
  transport: 'stdio',
  metadata: {
    aip44: {
      acp_rev: 'abcdef0',
      tier: 'basic',
      capabilities: { agent: { loadSession: true, promptCapabilities: { image: true } } },
    },
  },
}

test('a profile connects, and says what the agent does not keep of it', async () => {
  const handle = defineAcp(profile)
  const connection = await handle.connect(fixture('turns'))
  expect(handle.missing(connection.info)).toEqual(['loadSession', 'promptCapabilities.image'])
  await connection.close()
})

test('a tier promises what it stands for', () => {
  const { info } = { info: { capabilities: { load: false, mcpHttp: false, mcpSse: true } } as never }
  const tier = (name: 'basic' | 'governance-aware' | 'sandboxed'): readonly string[] =>
    defineAcp({ ...profile, metadata: { aip44: { acp_rev: 'abcdef0', tier: name } } }).missing(info)
  expect([tier('basic'), tier('governance-aware'), tier('sandboxed')]).toEqual([
    [],
    ['loadSession'],
    ['loadSession', 'mcpCapabilities.http'],
  ])
})

test('what is wrong with a profile is named', () => {
  const wrong = { ...profile, id: '', metadata: { aip44: { acp_rev: 'xyz', tier: 'basic' as const } } }
  expect(() => defineAcp(wrong)).toThrow(/id: .*; metadata\.aip44\.acp_rev: /)
  expect(() => defineAcp({ ...profile, transport: 'websocket' })).toThrow(
    expect.objectContaining({ code: 'protocol_unsupported' }),
  )
})
