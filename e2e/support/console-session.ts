import type { Locator, Page } from 'playwright-core'

/** The transcript of the session that a page shows. */
export const transcript = (page: Page): Locator => page.getByRole('log', { name: 'Transcript' })

/** Writes a prompt into the box, and sends it with a key. */
export async function prompt(page: Page, text: string, key = 'Enter'): Promise<void> {
  await page.getByRole('textbox', { name: 'Prompt' }).fill(text)
  await page.getByRole('textbox', { name: 'Prompt' }).press(key)
}

/** What the page says of its connection. */
export const connectionOf = (page: Page): Promise<string | null> =>
  page.getByRole('navigation', { name: 'Places' }).getByRole('status').textContent()

/** The text of each row, also of those that are not in view: it scrolls through all of them. */
export async function wholeTranscript(page: Page): Promise<readonly string[]> {
  const log = transcript(page)
  const rows = new Map<number, string>()
  for (let top = 0; ; top += 300) {
    await log.evaluate((at, to) => (at.scrollTop = to), top)
    await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))')
    for (const row of await log.locator('.virtual-row').all())
      rows.set(Number(await row.getAttribute('data-index')), await row.innerText())
    if (top > (await log.evaluate((at) => at.scrollHeight))) break
  }
  return [...rows].toSorted(([one], [other]) => one - other).map(([, text]) => text)
}
