import type { Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { openBrowser, type OpenedConsole } from './support/console.js'
import { startGateway, type TestGateway } from './support/gateway.js'

// What reaches a person who looks elsewhere, and what keeps a press from being an answer by accident.

interface Shown {
  readonly title: string
  readonly body: string
}

interface Edge {
  readonly shown: Shown[]
  asked: number
  isFocused: boolean
}

/** A console whose browser records notifications. `throws`: as on a phone, where a page cannot make one. */
async function openNotified(
  gateway: TestGateway,
  { permission = 'default', throws = false }: { readonly permission?: string; readonly throws?: boolean } = {},
): Promise<OpenedConsole> {
  const opened = await openBrowser(gateway)
  await opened.page.addInitScript(
    ([given, isPhone]) => {
      const edge: Edge = { shown: [], asked: 0, isFocused: true }
      class Recorded extends EventTarget {
        static permission = given
        static async requestPermission(): Promise<string> {
          edge.asked++
          Recorded.permission = 'granted'
          return 'granted'
        }
        constructor(title: string, { body }: { readonly body: string }) {
          super()
          if (isPhone) throw new TypeError('Illegal constructor')
          edge.shown.push({ title, body })
        }
      }
      Object.assign(globalThis, { Notification: Recorded, edge })
    },
    [permission, throws] as const,
  )
  await opened.page.addInitScript('document.hasFocus = () => edge.isFocused')
  const { code } = await gateway.client.browserCode()
  await opened.page.goto(`${gateway.url}/console/#code=${code}/`)
  await opened.page.getByRole('heading', { name: 'Needs you' }).waitFor()
  return opened
}

const edgeOf = (page: Page): Promise<Edge> => page.evaluate<Edge>('edge')
const lookElsewhere = (page: Page): Promise<void> => page.evaluate('edge.isFocused = false')

async function ask({ client, cwd }: TestGateway, prompt: string): Promise<string> {
  const { id } = await client.sessions.start({ adapter: 'demo', cwd })
  await client.sessions.prompt(id, { prompt })
  return id
}

test(
  '15.2 the browser notifies on wish, of what is new while the person looks elsewhere',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    const { page } = await openNotified(gateway)
    await ask(gateway, 'ask before.txt')
    await page.getByRole('article').getByText('before.txt').first().waitFor()
    expect(await edgeOf(page)).toMatchObject({ asked: 0, shown: [] })
    await page.getByRole('button', { name: 'Notify me in this browser' }).click()
    await page.getByRole('button', { name: 'This browser notifies you' }).waitFor()
    await ask(gateway, 'ask seen.txt')
    await page.getByRole('article').getByText('seen.txt').first().waitFor()
    expect(await edgeOf(page)).toMatchObject({ asked: 1, shown: [] })
    await lookElsewhere(page)
    await ask(gateway, 'question Which \u202Ecolour?')
    await expect.poll(async () => (await edgeOf(page)).shown).toHaveLength(1)
    const asked = { title: 'An agent asks a question', body: 'Which ⟨U+202E⟩colour?' }
    expect((await edgeOf(page)).shown).toEqual([asked])
    await page.getByRole('button', { name: 'This browser notifies you' }).click()
    await ask(gateway, 'ask later.txt')
    await page.getByRole('article').getByText('later.txt').first().waitFor()
    expect((await edgeOf(page)).shown).toHaveLength(1)
  },
)

test('15.2 a browser that forbids notifications has no button for them', needs('chromium'), async () => {
  const gateway = await startGateway()
  const { page } = await openNotified(gateway, { permission: 'denied' })
  await page.getByText('No agent waits for you.').waitFor()
  expect(await page.getByRole('button', { name: /Notify me/ }).count()).toBe(0)
})

test(
  '15.2 a phone, whose pages make no notifications, still shows all that is asked and answered',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    const { page, problems } = await openNotified(gateway, { throws: true })
    await page.getByRole('button', { name: 'Notify me in this browser' }).click()
    await lookElsewhere(page)
    const id = await ask(gateway, 'ask phone.txt')
    await page.getByRole('article').getByText('phone.txt').first().waitFor()
    await expect.poll(() => page.getByRole('button', { name: /otif/ }).count()).toBe(0)
    const [request] = await gateway.client.sessions.requests(id)
    await gateway.client.sessions.answer(id, request?.requestId ?? '', { action: 'cancel' })
    await page.getByText(/^Answered by .+\.$/).waitFor()
    expect(problems).toEqual([])
  },
)

test(
  '15.2 a press in the first 300 ms of a question, or below one that moved, is no answer',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    const { page } = await openNotified(gateway)
    await page.clock.install()
    const first = await ask(gateway, 'ask one.txt')
    const allow = page.getByRole('button', { name: /Allow once/ })
    await page.clock.runFor(1_000)
    await allow.waitFor()
    await page.clock.pauseAt(new Date(Date.now() + 3_600_000))
    const second = await ask(gateway, 'ask two.txt')
    const cards = async (): Promise<number> => {
      await page.clock.runFor(20)
      return await allow.count()
    }
    await expect.poll(cards).toBe(2)
    const pending = async (id: string): Promise<string | undefined> =>
      (await gateway.client.sessions.requests(id))[0]?.state
    await allow.first().click()
    await page.getByText('Too early to have read it. Press again.').waitFor()
    expect([await pending(first), await pending(second)]).toEqual(['pending', 'pending'])
    await page.clock.runFor(200)
    await allow.first().click()
    expect([await pending(first), await pending(second)]).toEqual(['pending', 'pending'])
    await page.clock.runFor(200)
    await allow.first().click()
    await expect.poll(() => pending(first)).toBe('resolved')
    // The second card is now where the first one was.
    await expect.poll(() => allow.count()).toBe(1)
    await allow.click()
    expect(await pending(second)).toBe('pending')
    await page.clock.runFor(1_000)
    await allow.click()
    await expect.poll(() => pending(second)).toBe('resolved')
  },
)
