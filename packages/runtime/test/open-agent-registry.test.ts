import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openAgentRegistry } from '@agentproto/runtime'
import { configSchema } from '@agentproto/manifest'
import { PUBLIC_REGISTRY } from '@agentproto/acp-registry'
import { expect, onTestFinished, test } from 'vitest'

function homeWith(config?: object): string {
  const home = mkdtempSync(join(tmpdir(), 'agentproto-registry-url-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  if (config !== undefined) writeFileSync(join(home, 'config.json'), JSON.stringify(config))
  return home
}

async function registryUrl(): Promise<string> {
  const entry = { id: 'sample', name: 'Sample', version: '1.0.0', description: 'Sample', distribution: {} }
  const server = createServer((_request, response) =>
    response.end(JSON.stringify({ version: '1.0.0', agents: [entry] })),
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/registry.json`
}

test('18.1 the setting registry.url names the registry; without it, it is the public one', async () => {
  const url = await registryUrl()
  const home = homeWith({ registry: { url } })
  const { agents } = await (await openAgentRegistry({ home })).read()
  expect(agents.map(({ id }) => id)).toEqual(['sample'])
  expect(readdirSync(join(home, 'registries'))).toHaveLength(1)
  expect((await openAgentRegistry({ home: homeWith() })).url).toBe(PUBLIC_REGISTRY)
  expect((await openAgentRegistry({ home, registry: { url: 'https://other.example/' } })).url).toBe(
    'https://other.example/',
  )
  expect(configSchema).toHaveProperty('properties.registry.properties.url.default', PUBLIC_REGISTRY)
})

test.each([
  'http://registry.example/',
  'https://user:word@registry.example/',
  'http://127.0.0.1.example/',
  'file:///x',
  5,
])('18.1 the setting registry.url may not be %j', async (url) => {
  await expect(openAgentRegistry({ home: homeWith({ registry: { url } }) })).rejects.toMatchObject({
    code: 'invalid_request',
  })
})
