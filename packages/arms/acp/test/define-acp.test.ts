import { defineAcp } from '@agentproto/acp'
import type { AcpProfile, RemoteEndpoint } from '@agentproto/acp'
import { expect, test } from 'vitest'
import { fixture } from './connecting.ts'
import { startRemoteAgent } from './fixtures/remote-agent.ts'

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
})

test('stdio counts, unless the agent has an endpoint: and only what the profile lists', async () => {
  const agent = await startRemoteAgent()
  const endpoint: RemoteEndpoint = { url: agent.url, connect: async () => ({ headers: {} }) }
  const options = fixture('turns')
  const remote = { ...options, profile: { endpoint } }
  const infoOf = async (transport: AcpProfile['transport'], given: typeof options): Promise<string | undefined> => {
    const connection = await defineAcp({ ...profile, transport }).connect(given)
    await connection.close()
    return connection.process === undefined ? connection.info.name : 'launched'
  }
  expect(await infoOf('websocket', remote)).toBe('remote')
  expect(await infoOf(['stdio', 'websocket'], remote)).toBe('remote')
  expect(await infoOf(['websocket', 'stdio'], options)).toBe('launched')
  await expect(infoOf('websocket', options)).rejects.toMatchObject({ code: 'protocol_unsupported' })
  await expect(infoOf('stdio', remote)).rejects.toMatchObject({ code: 'protocol_unsupported' })
})
