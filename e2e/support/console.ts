import { type Browser, type BrowserContext, chromium, type Page, type Request } from 'playwright-core'
import type { Client } from '@agentproto/client'
import { expect, onTestFinished } from 'vitest'
import { findProgram } from '../../tooling/programs.mjs'

/** A gateway that serves the console: in this process, or a daemon. */
export interface ConsoleGateway {
  readonly url: string
  readonly client: Client
}

/** A page of the console in a new browser, and what it did that a console must not do. */
export interface OpenedConsole {
  readonly page: Page
  readonly context: BrowserContext
  /** Addresses of other origins that the page asked for. */
  readonly foreign: readonly string[]
  /** Errors that no script caught, dialogs, and what the content security policy refused. */
  readonly problems: readonly string[]
}

export interface OpenOptions {
  readonly width?: number
  readonly height?: number
  readonly colorScheme?: 'light' | 'dark'
  /** The place to open, as it is in the address; default: the first one. */
  readonly place?: string
  /** A host name that leads to loopback; its certificate need not be known. */
  readonly loopbackName?: string
}

/** Opens the console with a one-time code, as `agentproto open` does. */
export async function openConsole(gateway: ConsoleGateway, options: OpenOptions = {}): Promise<OpenedConsole> {
  const opened = await openBrowser(gateway, options)
  const { code } = await gateway.client.browserCode()
  await opened.page.goto(`${gateway.url}/console/#code=${code}${options.place ?? '/'}`)
  await opened.page.getByRole('navigation', { name: 'Places' }).waitFor()
  // The places are shown while the code is exchanged: a page that is left before that would have no login.
  await expect.poll(() => opened.context.cookies()).not.toEqual([])
  return opened
}

/** A browser without a login, with an empty page. */
export async function openBrowser({ url }: ConsoleGateway, options: OpenOptions = {}): Promise<OpenedConsole> {
  const { width = 1_440, height = 900, colorScheme = 'light', loopbackName } = options
  const browser = await launch(loopbackName)
  const ignoreHTTPSErrors = loopbackName !== undefined
  const context = await browser.newContext({ viewport: { width, height }, colorScheme, ignoreHTTPSErrors })
  const page = await context.newPage()
  return { page, context, foreign: foreignRequests(page, url), problems: problemsOf(page) }
}

async function launch(loopbackName?: string): Promise<Browser> {
  const rules = loopbackName === undefined ? [] : [`--host-resolver-rules=MAP ${loopbackName} 127.0.0.1`]
  const browser = await chromium.launch({
    executablePath: findProgram('chromium') ?? '',
    // The sandbox of the browser does not work as root, and the pages are our own.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', ...rules],
  })
  onTestFinished(() => browser.close())
  return browser
}

function foreignRequests(page: Page, url: string): readonly string[] {
  const foreign: string[] = []
  const { origin } = new URL(url)
  const isForeign = (request: Request): boolean => !/^(data|blob):/.test(request.url()) && !isOf(request.url(), origin)
  page.context().on('request', (request) => isForeign(request) && foreign.push(request.url()))
  return foreign
}

const isOf = (address: string, origin: string): boolean => new URL(address).origin === origin

function problemsOf(page: Page): readonly string[] {
  const problems: string[] = []
  page.on('pageerror', (error) => problems.push(error.message))
  page.on('dialog', (dialog) => {
    problems.push(`dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) problems.push(message.text())
  })
  return problems
}
