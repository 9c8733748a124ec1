import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { openConsole } from './support/console.js'
import { prompt, transcript } from './support/console-session.js'
import { startGateway, type TestGateway } from './support/gateway.js'

/** A gateway whose folder is a workspace: a browser may start agents in no other. */
async function gatewayWithWorkspace(): Promise<TestGateway> {
  const gateway = await startGateway()
  await gateway.client.workspaces.add({ path: gateway.cwd, slug: 'work', use: true })
  return gateway
}

test('15.4 an ended session is resumed, and its next turn is shown', needs('chromium'), async () => {
  const gateway = await gatewayWithWorkspace()
  const { sessions } = gateway.client
  const { id } = await sessions.start({ adapter: 'demo', workspaceSlug: 'work' })
  await sessions.promptAndWait(id, { prompt: 'before' })
  const { page, problems } = await openConsole(gateway, { place: `/sessions/${id}` })
  await transcript(page).getByText('echo: before').waitFor()
  await page.getByText('Settings and actions').click()
  await page.getByRole('button', { name: 'Kill…' }).click()
  await page.getByRole('button', { name: 'Kill', exact: true }).click()
  await transcript(page).getByText('Ended: user_canceled').waitFor()
  await page.getByRole('button', { name: 'Resume' }).click()
  await expect.poll(async () => (await sessions.get(id)).state).toBe('idle')
  await prompt(page, 'after')
  await transcript(page).getByText('echo: after').waitFor()
  expect(await transcript(page).getByText('echo: before').count()).toBe(1)
  expect(problems).toEqual([])
})
