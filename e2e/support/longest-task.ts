import type { BrowserContext, Page } from 'playwright-core'

interface TraceEvent {
  readonly name: string
  readonly pid: number
  readonly tid: number
  readonly ph: string
  /** Time of the processor, in microseconds. */
  readonly tdur?: number
  readonly dur?: number
  readonly args?: { readonly name?: string }
}

/**
 * The longest task of the page's main thread while something happens, in milliseconds of processor time: a machine with much
 * else to do does not make it longer.
 */
export async function longestTask(context: BrowserContext, page: Page, act: () => Promise<unknown>): Promise<number> {
  const browser = context.browser()
  if (browser === null) throw new Error('The page has no browser')
  await browser.startTracing(page, { categories: ['toplevel', 'disabled-by-default-devtools.timeline', '__metadata'] })
  await act()
  const trace = JSON.parse((await browser.stopTracing()).toString('utf8')) as {
    readonly traceEvents: readonly TraceEvent[]
  }
  const main = new Set(
    trace.traceEvents
      .filter(({ name, args }) => name === 'thread_name' && args?.name === 'CrRendererMain')
      .map(({ pid, tid }) => `${pid} ${tid}`),
  )
  const tasks = trace.traceEvents.filter(({ ph, pid, tid }) => ph === 'X' && main.has(`${pid} ${tid}`))
  return Math.max(0, ...tasks.map(({ tdur = 0 }) => tdur / 1_000))
}
