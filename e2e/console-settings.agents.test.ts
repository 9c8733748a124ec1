import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { openConsole } from './support/console.js'
import { startGateway } from './support/gateway.js'
import { ownAdapter } from './support/own-adapter.js'

// What can be set in the console: what a start chooses, agents, tokens, rules and the gateway.

/** What the tests read of an input: they are compiled without the types of a browser. */
interface HTMLInput {
  readonly validity: { readonly rangeOverflow: boolean }
}

const CHOICES = {
  setup: [],
  modes: [
    { id: 'plan', description: 'Reports what it would do', bin_args_append: ['--mode', 'plan'] },
    { id: 'default' },
  ],
  options: [
    { id: 'model', type: 'enum', enum: ['demo-1', 'demo-2'], bin_args_template: ['--model', '{value}'] },
    { id: 'steps', type: 'integer', min: 1, max: 9, description: 'At most so many', env: { OWN_STEPS: '{value}' } },
    { id: 'fast', type: 'boolean', env: { OWN_FAST: '{value}' } },
  ],
}

test(
  '15.3 a start offers the modes and options of the agent with their values and bounds, and sends what was chosen',
  needs('chromium'),
  async () => {
    const { client, ...gateway } = await startGateway()
    await client.adapters.add(ownAdapter(CHOICES))
    for await (const _ of client.adapters.provision('own', { until: 'install' }));
    await client.workspaces.add({ path: gateway.cwd, slug: 'work', use: true })
    const { page, problems } = await openConsole({ client, ...gateway }, { place: '/sessions' })
    await page.getByRole('button', { name: 'Start a session' }).click()
    const dialog = page.getByRole('dialog', { name: 'Start a session' })
    await dialog.getByRole('combobox', { name: 'Agent' }).selectOption('own')
    await dialog.getByRole('combobox', { name: 'Mode', exact: true }).selectOption('plan')
    await dialog.getByText('Reports what it would do').waitFor()
    const options = dialog.getByRole('group', { name: 'Options of own' })
    expect(await options.getByRole('combobox', { name: 'model' }).locator('option').allTextContents()).toEqual([
      'as the agent starts',
      'demo-1',
      'demo-2',
    ])
    await options.getByRole('combobox', { name: 'model' }).selectOption('demo-2')
    const steps = options.getByRole('spinbutton', { name: 'steps' })
    expect(await steps.getAttribute('aria-describedby')).not.toBeNull()
    await steps.fill('12')
    await options.getByRole('checkbox', { name: 'fast' }).check()
    await dialog.getByRole('textbox', { name: 'Prompt' }).fill('hello')
    await dialog.getByRole('button', { name: 'Start', exact: true }).click()
    expect(await steps.evaluate((input) => (input as unknown as HTMLInput).validity.rangeOverflow)).toBe(true)
    expect((await client.sessions.list()).sessions).toEqual([])
    await steps.fill('7')
    await dialog.getByRole('button', { name: 'Start', exact: true }).click()
    await page.waitForURL(/#\/sessions\/[^/]+$/)
    const id = page.url().split('/').at(-1) ?? ''
    const { config } = await client.sessions.get(id)
    expect(config).toMatchObject({ modeId: 'plan', modelId: 'demo-2' })
    await page.getByText('Settings and actions').click()
    const mode = page.getByRole('combobox', { name: 'Mode', exact: true })
    const about = (await mode.getAttribute('aria-describedby')) ?? 'none'
    expect(await page.locator(`[id="${about}"]`).textContent()).not.toBe('')
    expect(problems).toEqual([])
  },
)
