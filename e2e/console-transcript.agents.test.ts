import type { Locator, Page } from 'playwright-core'
import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { openConsole } from './support/console.js'
import { transcript } from './support/console-session.js'
import { startGateway } from './support/gateway.js'
import { type StoredBody, storeSession } from './support/stored-session.js'

// A person reads a long transcript: nothing moves below the eyes, however much comes before and after it.

test(
  '15.4 the transcript follows its end; what a person reads above stays put while more comes, and a control leads back',
  needs('chromium'),
  async () => {
    const gateway = await startGateway()
    const { sessions } = gateway.client
    const { id } = await sessions.start({ adapter: 'demo', cwd: gateway.cwd })
    for (let n = 1; n <= 12; n++) await sessions.promptAndWait(id, { prompt: `stream 40 0; think of ${n}` })
    const { page } = await openConsole(gateway, { place: `/sessions/${id}` })
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(1)
    await sessions.promptAndWait(id, { prompt: 'stream 200 1' })
    await transcript(page).getByText('chunk 200').waitFor()
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(1)
    // What follows the end wins over a scroll in the same moment: a person scrolls on.
    const leftTheEnd = async (): Promise<number> => {
      await scrollBy(page, -1_500)
      // The last events of the turn came after its text, and count as new: from the end once more.
      const newBelow = page.getByRole('button', { name: 'New below' })
      if ((await newBelow.count()) > 0) await newBelow.click()
      return page.getByRole('button', { name: 'To the end' }).count()
    }
    await expect.poll(leftTheEnd, { interval: 500 }).toBe(1)
    const read = await middleRow(page)
    const before = await topOf(page, read)
    await sessions.promptAndWait(id, { prompt: 'stream 300 1; run echo said' })
    await page.getByRole('button', { name: 'New below' }).waitFor()
    await expect.poll(() => topOf(page, read)).toBeCloseTo(before, 0)
    await page.getByRole('button', { name: 'New below' }).click()
    await transcript(page).getByText('chunk 300').waitFor()
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(1)
    expect(await page.getByRole('button', { name: /To the end|New below/ }).count()).toBe(0)
    await sessions.promptAndWait(id, { prompt: 'follow me' })
    await transcript(page).getByText('echo: follow me').waitFor()
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(1)
  },
)

test(
  '15.4 a part that was opened stays open when it is scrolled away and back, and one that grows above moves nothing',
  needs('chromium'),
  async () => {
    const { gateway, id } = await openStored(3_000)
    const { page } = await openConsole(gateway, { place: `/sessions/${id}` })
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(1)
    await wholeIsLoaded(page)
    await scrollBy(page, -3_000)
    const read = await middleRow(page)
    const before = await topOf(page, read)
    // What grows within 150 ms of a scroll up counts as a part of that scroll.
    await settled(page, 30)
    const grown = await openFoldAbove(page)
    await expect.poll(async () => (await heightOf(page, grown)) > 100).toBe(true)
    await expect.poll(() => topOf(page, read)).toBeCloseTo(before, 0)
    await scrollTo(page, 0)
    expect(await rowOf(page, grown).count()).toBe(0)
    await expect
      .poll(
        async () => {
          await scrollBy(page, 600)
          return await rowOf(page, grown).count()
        },
        { timeout: 60_000 },
      )
      .not.toBe(0)
    expect(await rowOf(page, grown).locator('details[open]').count()).toBe(1)
  },
)

test(
  '15.4 a session of 100,000 events opens at its end with a small page, and is loaded to its first event without a move',
  needs('chromium'),
  async () => {
    const { gateway, id } = await openStored(100_000)
    const { page, problems } = await openConsole(gateway, { place: `/sessions/${id}` })
    await transcript(page).getByText('the point of turn 2000').waitFor()
    await expect.poll(() => distanceFromEnd(page)).toBeLessThan(1)
    expect(await rows(page).count()).toBeLessThan(80)
    // What the gateway has not sent is named, with its number.
    await notLoaded(page, '78,000')
    await scrollTo(page, 2_900)
    // 2,900 pixels are before it, and what has come in front meanwhile.
    for (let turns = 0; (await page.getByText('78,000 earlier events').count()) > 0; turns++) {
      expect(turns).toBeLessThan(100)
      await readUpwards(page, 100)
    }
    await notLoaded(page, '73,000')
    await scrollTo(page, 0)
    await page.getByRole('button', { name: 'Load all' }).click()
    await page.getByText('The beginning of the session').waitFor({ state: 'attached', timeout: 60_000 })
    await scrollTo(page, 0)
    await transcript(page).getByText('the very first prompt', { exact: true }).waitFor()
    expect(await rows(page).count()).toBeLessThan(80)
    expect(problems).toEqual([])
  },
)

test('15.4 a reload shows what the person was reading, and the end to others', needs('chromium'), async () => {
  const { gateway, id } = await openStored(30_000)
  const { page } = await openConsole(gateway, { place: `/sessions/${id}` })
  await notLoaded(page, '8,000')
  await scrollBy(page, -60_000)
  const words = await firstRowInView(page)
  await page.reload()
  await rows(page).first().waitFor()
  await expect.poll(() => firstRowInView(page)).toBe(words)
  const { page: other } = await openConsole(gateway, { place: `/sessions/${id}` })
  await expect.poll(() => distanceFromEnd(other)).toBeLessThan(1)
})

test('15.4 a block of code of many thousand characters is shown as one', needs('chromium'), async () => {
  const line = (seq: number): string => `const value${seq} = [${seq}] // a line of code\n`
  const { gateway, id } = await openStored(1_000, (seq) => ({
    type: 'text-delta',
    turn: 2,
    text: seq === 100 ? 'Before.\n\n```ts\n' : seq < 900 ? line(seq) : seq === 900 ? '```\n\nAfter.\n' : 'words\n',
  }))
  const { page } = await openConsole(gateway, { place: `/sessions/${id}` })
  await wholeIsLoaded(page)
  await scrollTo(page, 0)
  await rows(page).filter({ hasText: 'Before.' }).waitFor()
  const seen = new Map<string, string>()
  for (let top = 0; top < (await transcript(page).evaluate((at) => at.scrollHeight)); top += 400) {
    await scrollTo(page, top)
    for (const code of await transcript(page).locator('pre').all()) seen.set(await code.innerText(), '')
    const outside = await transcript(page).locator('.markdown :not(pre) > :not(pre, code, pre *)').allInnerTexts()
    expect(outside.join(' ')).not.toMatch(/value(?:[1-8]\d\d) =/)
  }
  const code = [...seen.keys()].join('\n')
  for (let seq = 101; seq < 900; seq++) expect(code).toContain(line(seq).trim())
  expect(code).not.toContain('```')
  expect(seen.size).toBeGreaterThan(3)
})

/** A gateway with a stored session of so many events, in which an agent works turn after turn. */
async function openStored(events: number, bodyOf: (seq: number) => StoredBody = workOf) {
  const { home, id } = await storeSession(events, bodyOf)
  return { gateway: await startGateway({ home }), id }
}

function workOf(seq: number): StoredBody {
  const turn = Math.ceil(seq / 50)
  const step = seq % 50
  if (step === 1) return { type: 'user-prompt', turn, content: [{ type: 'text', text: `change ${turn}` }] }
  if (step === 20) return { type: 'tool-call', turn, toolCallId: `c${turn}`, title: `Read file ${turn}` }
  if (step === 21)
    return { type: 'tool-result', turn, toolCallId: `c${turn}`, status: 'completed', output: 'line\n'.repeat(30) }
  if (step === 49) return { type: 'text-delta', turn, text: `\n\nthe point of turn ${turn}` }
  if (step === 0) return { type: 'turn-end', turn, reason: 'end_turn' }
  return {
    type: 'text-delta',
    turn,
    text: step % 9 === 0 ? `\n\n**step ${step} of ${turn}** ` : `word ${step} of ${turn} `,
  }
}

const rows = (page: Page): Locator => transcript(page).locator('.virtual-row')

const wholeIsLoaded = (page: Page): Promise<void> =>
  page.getByText('The beginning of the session').waitFor({ state: 'attached' })

const notLoaded = (page: Page, events: string): Promise<void> =>
  page.getByText(`${events} earlier events are not loaded.`).waitFor({ state: 'attached', timeout: 60_000 })

const distanceFromEnd = (page: Page): Promise<number> =>
  transcript(page).evaluate((log) => log.scrollHeight - log.scrollTop - log.clientHeight)

async function scrollTo(page: Page, top: number): Promise<void> {
  await transcript(page).evaluate((log, to) => (log.scrollTop = to), top)
  await settled(page)
}

async function scrollBy(page: Page, pixels: number): Promise<void> {
  await transcript(page).evaluate((log, by) => (log.scrollTop += by), pixels)
  await settled(page)
}

/** Scrolls up as far as one turn of a wheel does, and expects just that, also while rows come in front. */
async function readUpwards(page: Page, pixels: number): Promise<void> {
  const read = await middleRow(page)
  const before = await topOf(page, read)
  await scrollBy(page, -pixels)
  expect(await topOf(page, read)).toBeCloseTo(before + pixels, 0)
}

/** Rows are measured in the frame after they were drawn, and moved in the next. */
async function settled(page: Page, frames = 6): Promise<void> {
  for (let frame = 0; frame < frames; frame++)
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))')
}

/** A name of the row in the middle of the view, by which it is found again: rows get other numbers and elements. */
const middleRow = (page: Page): Promise<string> =>
  transcript(page).evaluate((log) => {
    const { top, height } = log.getBoundingClientRect()
    // Ends of turns have all the same words.
    const all = [...log.querySelectorAll('.virtual-row:not(:has(.turn-end))')]
    const row = all.find((each) => each.getBoundingClientRect().bottom > top + height / 2)
    return row?.textContent ?? ''
  })

const rowOf = (page: Page, words: string): Locator => rows(page).filter({ hasText: words })

const topOf = (page: Page, words: string): Promise<number> =>
  transcript(page).evaluate((log, name) => {
    const row = [...log.querySelectorAll('.virtual-row')].find((each) => each.textContent === name)
    return row === undefined ? Number.NaN : row.getBoundingClientRect().top
  }, words)

const heightOf = (page: Page, words: string): Promise<number> =>
  rowOf(page, words)
    .first()
    .evaluate((row) => row.getBoundingClientRect().height)

const firstRowInView = (page: Page): Promise<string> =>
  transcript(page).evaluate((log) => {
    const { top } = log.getBoundingClientRect()
    const row = [...log.querySelectorAll('.virtual-row')].find((each) => each.getBoundingClientRect().bottom > top + 1)
    return row?.textContent ?? ''
  })

/** Opens a folded part that is drawn above the view. @returns its words */
const openFoldAbove = (page: Page): Promise<string> =>
  transcript(page).evaluate((log) => {
    const { top } = log.getBoundingClientRect()
    const fold = [...log.querySelectorAll('details')].findLast((each) => each.getBoundingClientRect().bottom < top)
    const summary = fold?.querySelector('summary')
    summary?.click()
    return summary?.textContent ?? 'no fold is above'
  })
