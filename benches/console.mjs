// The web console in a real browser: first view, a session of many events opened, read and streamed, and what it costs the
// gateway. Also alone: `node benches/console.mjs`.
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { chromium } from 'playwright-core'
import { findProgram } from '../tooling/programs.mjs'
import { buildHome } from './big-home.mjs'
import { startDaemon, startSession } from './gateway.mjs'
import { median, now, rss } from './measure.mjs'
import { mb, ms, printTable, row } from './table.mjs'
import { lastWords, workingEvent } from './working-session.mjs'

const EVENTS = 100_000
const ROUNDS = 3
/** Pieces of a streamed answer, one per millisecond. */
const STREAMED = 4_000
const SCROLL_MS = 4_000

const kb = (bytes) => `${(bytes / 1_000).toFixed(0)} kB`
/** The browser reports no task of less than 50 ms. */
const task = (value) => (value === 0 ? '< 50 ms' : ms(value))
const fps = (value) => `${value.toFixed(0)} fps`

export async function consoleInBrowser({ home, cwd }) {
  const script = row('console, script (gzip)', await scriptBytes(), { most: 200_000, unit: kb })
  const executablePath = findProgram('chromium')
  if (executablePath === undefined) return [script, ['console in a browser', 'no Chromium', '', '', 'not measured']]
  const id = await buildHome({ home, cwd, stored: 20, events: EVENTS, bodyOf: workingEvent })
  const gateway = await startDaemon(home, cwd)
  const args = ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']
  const browser = await chromium.launch({ executablePath, args })
  try {
    return [script, ...(await measure({ browser, gateway, cwd, id }))]
  } finally {
    await browser.close()
    await gateway.stop()
  }
}

async function scriptBytes() {
  const folder = fileURLToPath(new URL('../packages/console/app/assets', import.meta.url))
  const scripts = (await readdir(folder)).filter((name) => name.endsWith('.js'))
  const sizes = await Promise.all(scripts.map(async (name) => gzipSync(await readFile(join(folder, name))).length))
  return sizes.reduce((sum, size) => sum + size, 0)
}

async function measure({ browser, gateway, cwd, id }) {
  await gateway.http.call('GET', `/sessions/${id}/events?limit=1000`)
  const before = rss(gateway.pid)
  const first = await eachRound(browser, gateway, { place: '/sessions', shows: 'nav a[aria-current]' })
  const opened = await eachRound(browser, gateway, { place: `/sessions/${id}`, shows: `text=${lastWords(EVENTS)}` })
  const page = opened.page
  await page.getByRole('button', { name: 'Load all' }).click()
  const all = await timeUntil(page, 'text=The beginning of the session', 'attached')
  const scrolled = await watched(page, () => scrollUp(page))
  const tab = await tabMemory(browser)
  const after = rss(gateway.pid)
  await page.context().close()
  const streamed = await stream(browser, gateway, cwd)
  return [
    row('console, first view', first.ms, { most: 1_000, unit: ms }),
    row(`console, ${EVENTS} events opened`, opened.ms, { most: 1_500, unit: ms }),
    row(`console, ${EVENTS} events loaded to the first`, all, { unit: ms }),
    row('console, scrolled', scrolled.fps, { least: 58, unit: fps }),
    row('console, scrolled, longest task', scrolled.longest, { most: 50, unit: task }),
    row('console, streamed', streamed.fps, { least: 58, unit: fps }),
    row('console, streamed, longest task', streamed.longest, { most: 50, unit: task }),
    row(`console, memory of the tab, ${EVENTS} events`, tab, { most: 250, unit: mb }),
    row('console, memory of the gateway', after, { most: before + 20, unit: mb, of: before }),
  ]
}

/** Opens a place in new browser profiles, one after the other. @returns the median, and the page of the last one */
async function eachRound(browser, gateway, { place, shows }) {
  const times = []
  let page
  for (let round = 0; round < ROUNDS; round += 1) {
    await page?.context().close()
    page = await newPage(browser)
    const { code } = await gateway.http.call('POST', '/auth/code', {})
    const began = now()
    await page.goto(`${gateway.url}/console/#code=${code}${place}`)
    await page.locator(shows).first().waitFor()
    times.push(now() - began)
  }
  return { ms: median(times), page }
}

async function newPage(browser) {
  const context = await browser.newContext({ viewport: { width: 1_440, height: 900 } })
  return await context.newPage()
}

async function timeUntil(page, selector, state) {
  const began = now()
  await page.locator(selector).first().waitFor({ state, timeout: 120_000 })
  return now() - began
}

/** Frames per second and the longest task of the page, while something happens. */
async function watched(page, act) {
  await page.evaluate(() => {
    const watch = { frames: 0, longest: 0, isOver: false, beganAt: performance.now() }
    globalThis.watch = watch
    new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) watch.longest = Math.max(watch.longest, duration)
    }).observe({ type: 'longtask' })
    const frame = () => {
      watch.frames += 1
      if (!watch.isOver) requestAnimationFrame(frame)
    }
    requestAnimationFrame(frame)
  })
  await act()
  return await page.evaluate(() => {
    const { watch } = globalThis
    watch.isOver = true
    return { fps: (watch.frames * 1_000) / (performance.now() - watch.beganAt), longest: watch.longest }
  })
}

/** As fast as a hand turns a wheel. */
const scrollUp = (page) =>
  page.evaluate(
    (duration) =>
      new Promise((resolve) => {
        const log = document.querySelector('[role=log]')
        const end = performance.now() + duration
        const step = () => {
          log.scrollTop -= 80
          if (performance.now() < end) requestAnimationFrame(step)
          else resolve()
        }
        step()
      }),
    SCROLL_MS,
  )

async function stream(browser, gateway, cwd) {
  const id = await startSession(gateway.http, cwd)
  const { page } = await eachRound(browser, gateway, { place: `/sessions/${id}`, shows: 'role=textbox' })
  return await watched(page, async () => {
    const prompt = `stream ${STREAMED} 1; run head -c 1000000 /dev/zero | tr '\\0' x`
    await gateway.http.call('POST', `/sessions/${id}/prompt`, { prompt })
    await page.locator('.turn-end').waitFor({ timeout: 60_000 })
  })
}

/** Resident memory of the process that has the page, in MB. */
async function tabMemory(browser) {
  const devtools = await browser.newBrowserCDPSession()
  const { processInfo } = await devtools.send('SystemInfo.getProcessInfo')
  const renderers = processInfo.filter(({ type }) => type === 'renderer')
  return Math.max(...renderers.map(({ id }) => rss(id)))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const cwd = await mkdtemp(join(tmpdir(), 'agentproto-bench-'))
  try {
    printTable(await consoleInBrowser({ home: join(cwd, 'home'), cwd }))
  } finally {
    await rm(cwd, { recursive: true, force: true })
  }
}
