import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@agentproto/client'
import type { ProvisionEvent, ProvisionRequest } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import { startGateway } from './support/gateway.js'
import { ownAdapter } from './support/own-adapter.js'
import demoPackage from '../packages/demo-agent/package.json' with { type: 'json' }

// An own adapter over HTTP: added, refused before its setup, set up without a terminal, started.

async function provisioned(client: Client, request: ProvisionRequest): Promise<ProvisionEvent[]> {
  const events: ProvisionEvent[] = []
  for await (const event of client.adapters.provision('own', request)) events.push(event)
  return events
}

test('an oauth step gets its secret from the flow of the embedding program', async () => {
  const asked: string[] = []
  const oauth = (slug: string) => (asked.push(slug), Promise.resolve({ accessToken: 'flow-access-4711' }))
  const { client, cwd } = await startGateway({ oauth })
  const entry = { slug: 'own/login', name: 'Login', description: 'A login.', kind: 'oauth' }
  const secrets = [{ ...entry, exposures: [{ kind: 'env', name: 'OWN_LOGIN' }] }]
  const setup = [{ id: 'login', kind: 'oauth', secret_slug: 'own/login' }]
  await client.adapters.add(ownAdapter({ setup, auth: { ref: './SECRETS.md' } }, { secrets }))
  expect(JSON.stringify(await provisioned(client, { until: 'setup' }))).not.toContain('4711')
  expect(asked).toEqual(['own/login'])
  const { id } = await client.sessions.start({ adapter: 'own', cwd, permissionMode: 'approve-all' })
  await client.sessions.promptAndWait(id, { prompt: 'run test "$OWN_LOGIN" = flow-access-4711 && touch it-is' })
  expect(existsSync(join(cwd, 'it-is'))).toBe(true)
})

test('an adapter is added, installed and set up over HTTP, and its session has the values of the setup', async () => {
  const { client, cwd } = await startGateway()
  expect(await client.adapters.add(ownAdapter())).toMatchObject({ slug: 'own', source: 'user', installed: false })
  await expect(client.sessions.start({ adapter: 'own', cwd })).rejects.toMatchObject({ code: 'agent_not_installed' })
  const installed = await provisioned(client, { until: 'install' })
  expect(installed.at(-1)).toMatchObject({ state: { installed: true, version: demoPackage.version, ready: false } })
  await expect(client.sessions.start({ adapter: 'own', cwd })).rejects.toMatchObject({
    code: 'setup_required',
    parts: { data: { pending: [{ id: 'shop' }, { id: 'key', needs: { type: 'secret' } }] } },
  })
  await expect(provisioned(client, { until: 'setup' })).rejects.toMatchObject({ code: 'setup_required' })
  const inputs = { shop: 'corner', key: 'own-key-4711' }
  const done = await provisioned(client, { until: 'setup', inputs })
  expect(JSON.stringify(done)).not.toContain('4711')
  expect(await client.adapters.state('own')).toMatchObject({
    ready: true,
    setup: [{ state: 'done' }, { state: 'done' }],
  })
  const { id } = await client.sessions.start({ adapter: 'own', cwd, permissionMode: 'approve-all' })
  await client.sessions.promptAndWait(id, {
    prompt: 'run test "$OWN_KEY" = own-key-4711 && echo "$OWN_SHOP $OWN_KEY" > printed.txt',
  })
  expect(JSON.stringify(await client.sessions.output(id))).not.toContain('4711')
  expect(readFileSync(join(cwd, 'printed.txt'), 'utf8')).toBe('corner own-key-4711\n')
})
