import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { openBrowser, openConsole } from './support/console.js'
import { startGateway, type TestGateway } from './support/gateway.js'
import { needs } from '../tooling/needs.ts'

/** The answer of the agent to a prompt that asks the person something. */
async function ask(gateway: TestGateway, prompt: string) {
  const { id } = await gateway.client.sessions.start({ adapter: 'demo', cwd: gateway.cwd })
  const finished = gateway.client.sessions
    .promptAndWait(id, { prompt })
    .catch((thrown: unknown) => ({ text: String(thrown) }))
  return { id, finished }
}

/** Waits until an answer to what is shown counts. */
async function untilRead(page: Page): Promise<void> {
  await page.getByRole('article').first().waitFor()
  const from = await page.evaluate(() => performance.now())
  await page.waitForFunction((start) => performance.now() - start > 300, from)
}

/** A keyboard whose keys are counted. */
function keyboardOf(page: Page) {
  const pressed: string[] = []
  return {
    pressed,
    async press(...keys: readonly string[]): Promise<void> {
      for (const key of keys) {
        pressed.push(key)
        await page.keyboard.press(key)
      }
    },
  }
}

test(
  '15.2 a waiting question is found and answered by keyboard alone, with three keys',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    const { finished } = await ask(gateway, 'question Which colour?')
    const { page, problems } = await openConsole(gateway)
    const loadedAt = performance.now()
    await untilRead(page)
    expect(await page.getByRole('article').innerText()).toContain('Which colour?')
    const { press, pressed } = keyboardOf(page)
    await press('y', 'ArrowDown', 'Enter')
    expect((await finished).text).toContain('The answer was accept {"colour":"green"}')
    expect(performance.now() - loadedAt).toBeLessThan(10_000)
    expect(pressed).toHaveLength(3)
    await page.getByText('No agent waits for you.').waitFor()
    expect(problems).toEqual([])
  },
)

test('15.2 a permission shows where it leads, and is allowed with two keys', needs('chromium'), async () => {
  const gateway = await startGateway()
  const { finished } = await ask(gateway, 'ask demo.txt hello')
  const { page } = await openConsole(gateway)
  await untilRead(page)
  expect(await page.title()).toBe('(1) agentproto')
  expect(await page.getByRole('article').innerText()).toContain(join(gateway.cwd, 'demo.txt'))
  await keyboardOf(page).press('y', 'Enter')
  await finished
  expect(readFileSync(join(gateway.cwd, 'demo.txt'), 'utf8')).toBe('hello\n')
  await expect.poll(() => page.title()).toBe('agentproto')
})

test(
  '15.2 a command is shown whole, whatever the agent calls it, and denied by keyboard',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    const { id } = await ask(gateway, 'disguise rm -rf ~/')
    const { page } = await openConsole(gateway)
    await untilRead(page)
    expect(await page.getByRole('group', { name: 'Command' }).innerText()).toBe('rm -rf ~/')
    expect(await page.getByRole('article').innerText()).toContain('runs commands (the agent says: read)')
    await keyboardOf(page).press('n', 'Enter')
    await page.getByText('No agent waits for you.').waitFor()
    const [request] = await gateway.client.sessions.requests(id)
    expect(request).toMatchObject({ state: 'resolved', answer: { outcome: 'selected', optionId: 'reject' } })
  },
)

test('15.2 a denial has its reason, which the agent gets', needs('chromium'), async () => {
  const gateway = await startGateway()
  const { finished } = await ask(gateway, 'ask demo.txt hello')
  const { page } = await openConsole(gateway)
  await untilRead(page)
  const { press } = keyboardOf(page)
  await press('r')
  await page.keyboard.type('use another file, y?')
  await press('Enter', 'Escape', 'n', 'Enter')
  expect((await finished).text).toContain('Reason: use another file, y?')
})

test('15.2 a form says what is missing, and can be declined', needs('chromium'), async () => {
  const gateway = await startGateway()
  const { finished } = await ask(gateway, 'question Which colour?')
  const { page } = await openConsole(gateway)
  await untilRead(page)
  await page.getByRole('textbox', { name: 'Why', exact: true }).fill('because')
  await page.getByRole('button', { name: 'Send the answer' }).click()
  await page.getByText('This field is required.').waitFor()
  await page.getByRole('button', { name: 'Decline' }).click()
  expect((await finished).text).toContain('The answer was decline')
})

test('15.2 always makes a rule only by a second press, below what it covers', needs('chromium'), async () => {
  const gateway = await startGateway()
  const { id, finished } = await ask(gateway, 'ask demo.txt hello')
  const { page } = await openConsole(gateway)
  await untilRead(page)
  const { press } = keyboardOf(page)
  await press('a', 'Enter')
  await page.getByText('Allow always: what exactly?').waitFor()
  expect(await gateway.client.sessions.requests(id)).toMatchObject([{ state: 'pending' }])
  expect(await page.getByRole('article').innerText()).toMatch(/nothing else: in this session, also when it is resumed/)
  await press('Escape')
  await page.getByRole('group', { name: 'Answers' }).waitFor()
  await untilRead(page)
  await press('a', 'Enter')
  await untilRead(page)
  await press('s', 'Enter')
  await finished
  expect(await gateway.client.permissions.list({ sessionId: id })).toHaveLength(1)
})

test('15.2 what another browser answered says who it was, then goes', needs('chromium'), async () => {
  const gateway = await startGateway()
  await ask(gateway, 'ask demo.txt hello')
  const [{ page: here }, { page: there }] = await Promise.all([openConsole(gateway), openConsole(gateway)])
  await Promise.all([untilRead(here), untilRead(there)])
  await there.getByRole('button', { name: /Deny once/ }).click()
  await here.getByText(/^Answered by .+\.$/).waitFor()
  expect(await here.getByRole('button', { name: /Allow/ }).count()).toBe(0)
  await here.getByRole('article').waitFor({ state: 'detached' })
  expect(await there.getByRole('article').count()).toBe(0)
})

test('15.2 a login that may only read sees what is asked, and no answers', needs('chromium'), async () => {
  const gateway = await startGateway()
  await ask(gateway, 'ask demo.txt hello')
  const { page } = await openBrowser(gateway)
  const { code } = await gateway.client.browserCode({ scope: 'read' })
  await page.goto(`${gateway.url}/console/#code=${code}`)
  await page.getByText('Your login may only read: somebody else has to answer.').waitFor()
  expect(await page.getByRole('article').getByRole('button').count()).toBe(0)
})

test(
  '15.7 keys lead everywhere and ? shows them; they are only text where a person types',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    const first = await ask(gateway, 'ask one.txt 1')
    await ask(gateway, 'ask two.txt 2')
    const { page } = await openConsole(gateway)
    await expect.poll(() => page.getByRole('article').count()).toBe(2)
    const { press } = keyboardOf(page)
    await press('j', 'j')
    expect(await page.locator(':focus').textContent()).toContain('two.txt')
    await press('k')
    expect(await page.locator(':focus').textContent()).toContain('one.txt')
    await press('?')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor()
    await press('g', 's')
    await press('Escape')
    await page.getByRole('dialog', { name: 'Keys' }).waitFor({ state: 'hidden' })
    await page.getByRole('heading', { name: 'Needs you' }).waitFor()
    await press('g', 's')
    await page.getByRole('heading', { name: 'Sessions' }).waitFor()
    await page.goto(`${gateway.url}/console/#/sessions/${first.id}`)
    const box = page.getByRole('textbox', { name: /prompt/i })
    await box.focus()
    await press('y', 'n', '?', 'g', 's')
    expect(await box.inputValue()).toBe('yn?gs')
  },
)

test('15.2 what is not shown whole can be denied, and not allowed', needs('chromium'), async () => {
  const gateway = await startGateway()
  const { id } = await ask(gateway, 'ask demo.txt hello')
  const { page, context } = await openBrowser(gateway)
  // A request is cut from 8 MiB on, which no prompt of the demo agent reaches.
  await context.route('**/requests', async (route) => {
    if (route.request().method() !== 'GET') return route.continue()
    const response = await route.fetch()
    const { requests, ...rest } = (await response.json()) as { readonly requests: readonly object[] }
    const cut = requests.map((request) => ({ ...request, cut: { originalChars: 9_000_000 } }))
    return route.fulfill({ response, json: { ...rest, requests: cut } })
  })
  const { code } = await gateway.client.browserCode()
  await page.goto(`${gateway.url}/console/#code=${code}`)
  await untilRead(page)
  expect(await page.getByRole('article').innerText()).toContain('It was not shown whole')
  expect(await page.getByRole('button', { name: /Allow once/ }).isDisabled()).toBe(true)
  expect(await page.getByRole('button', { name: /Allow always/ }).isDisabled()).toBe(true)
  await keyboardOf(page).press('y', 'Enter', 'a', 'Enter')
  expect(await gateway.client.sessions.requests(id)).toMatchObject([{ state: 'pending' }])
  await keyboardOf(page).press('n', 'Enter')
  await page.getByText('No agent waits for you.').waitFor()
  await context.unrouteAll({ behavior: 'wait' })
})

test('15.2 a login that may not make rules of a workspace is offered none', needs('chromium'), async () => {
  const gateway = await startGateway()
  await ask(gateway, 'ask demo.txt hello')
  const { page } = await openBrowser(gateway)
  const { code } = await gateway.client.browserCode({ scope: 'operate' })
  await page.goto(`${gateway.url}/console/#code=${code}`)
  await untilRead(page)
  await page.getByRole('button', { name: /Allow always/ }).click()
  await page.getByText('Allow always: what exactly?').waitFor()
  expect(await page.getByRole('article').innerText()).toContain('in this session, also when it is resumed')
  expect(await page.getByRole('article').innerText()).not.toContain('in every session of the workspace')
})
