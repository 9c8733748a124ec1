import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

interface Axe {
  run(): Promise<{ readonly violations: readonly { readonly id: string; readonly nodes: readonly AxeNode[] }[] }>
}

interface AxeNode {
  readonly html: string
  readonly failureSummary?: string
}

/** What axe finds, as lines for a person. */
export async function found(page: Page): Promise<readonly string[]> {
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const { violations } = await (globalThis as unknown as { readonly axe: Axe }).axe.run()
    return violations.flatMap(({ id, nodes }) =>
      nodes.map(({ html, failureSummary = '' }) => `${id}: ${html.slice(0, 200)} ${failureSummary}`),
    )
  })
}

export const isWiderThanScreen = (page: Page): Promise<boolean> =>
  page.evaluate<boolean>('document.documentElement.scrollWidth > document.documentElement.clientWidth')
