import { expect, test } from 'vitest'
import { measuredBlock } from '../packages/manifest/test/fixtures/measured-agent.ts'
import { needs } from '../tooling/needs.ts'
import { openConsole } from './support/console.js'
import { startGateway } from './support/gateway.js'
import { ownAdapter } from './support/own-adapter.js'

// What was measured of an agent when it was added, and how it is logged in.

const HOSTILE = '<img src=x onerror=alert(1)>\u202E'

const OBSERVED = measuredBlock({
  logins: [
    { id: 'key', name: 'API key', needsTerminal: false },
    { id: 'browser', name: HOSTILE, needsTerminal: true },
  ],
  session: { refused: { code: 'auth_required', message: `Log in first ${HOSTILE}` } },
  leaves: { processes: [HOSTILE], files: 1, bytes: 100 },
})

/** The row of an agent that was measured so, installed and opened. */
async function openMeasured(auth: object) {
  const gateway = await startGateway()
  const metadata = { agentproto: { observed: OBSERVED } }
  await gateway.client.adapters.add(ownAdapter({ setup: [], auth, metadata }))
  for await (const _ of gateway.client.adapters.provision('own', { until: 'install' }));
  const { page, problems } = await openConsole(gateway, { place: '/settings' })
  await page.getByRole('searchbox', { name: 'Search in the agents' }).fill('behind a setup')
  const row = page.getByRole('region', { name: 'Agents' }).getByRole('listitem').first()
  await row.getByText('needs a login').click()
  return { row, problems }
}

test(
  '18.5 an agent that opened no session without a login says so, with its ways and what it leaves, all as text',
  needs('chromium'),
  async () => {
    const { row, problems } = await openMeasured({ state: {} })
    await row.getByText(/without one it said: Log in first/).waitFor()
    await row.getByText('API key', { exact: true }).waitFor()
    await row.getByText('<img src=x onerror=alert(1)>⟨U+202E⟩ (in a terminal)', { exact: true }).waitFor()
    await row.getByText(/handshake in 64 ms; ends with its stdin after 3 ms; leaves processes \(<img/).waitFor()
    // Its manifest has no login command, but the agent named ways.
    await row.getByText('agentproto adapters login').waitFor()
    expect(await row.locator('img').count()).toBe(0)
    expect(problems).toEqual([])
  },
)

test('18.5 the login of an agent whose manifest has a command is that command', needs('chromium'), async () => {
  const { row } = await openMeasured({ state: {}, login: { cmd: 'own-agent login' } })
  await row.getByText(/without one it said/).waitFor()
  expect(await row.getByRole('group', { name: 'Login of own' }).textContent()).toBe('agentproto adapters login own')
})
