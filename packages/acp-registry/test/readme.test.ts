import { expect, test } from 'vitest'
import { distributionFor, manifestOf, openRegistry } from '@agentproto/acp-registry'
import { document, registryServer, temporaryFolder } from './registry-server.js'
import { documentOf, entryWith } from './sample-registry.js'

test('the example of the README does what it says', async () => {
  const { url } = await registryServer(document(documentOf(entryWith({ id: 'sample-agent' }))))
  const home = await temporaryFolder()

  const registry = openRegistry({ url, home })
  const { agents, ageMs, warning } = await registry.read()
  const entry = agents.find(({ id }) => id === 'sample-agent')
  if (entry === undefined) throw new Error(warning ?? 'The registry has no such agent.')
  const choice = distributionFor(entry, { os: 'linux', arch: 'x64' }, { npm: true, uv: false, python: true })
  if (!choice.ok) throw new Error(choice.refused.map(({ reason }) => reason).join(' '))
  const { slug, files } = manifestOf(entry, choice.distribution, { source: { url }, addedAt: Date.now() })

  expect([slug, [...files.keys()], ageMs < 60_000]).toEqual(['sample-agent', ['AGENT-CLI.md', 'ACP.md'], true])
})
