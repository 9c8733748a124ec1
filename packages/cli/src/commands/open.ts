import { mkdir } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Client } from '@agentproto/client'
import { defined, type Scope, SCOPES } from '@agentproto/contracts'
import { renderUnicodeCompact } from 'uqr'
import writeFileAtomic from 'write-file-atomic'
import { hasDesktop, openInBrowser } from '../browser.js'
import type { CommandResult, Define } from '../cli-command.js'
import type { CliContext } from '../cli-context.js'
import { connect, findDaemon } from '../daemon/connect.js'
import { homeOf } from '../daemon/daemon-record.js'
import { findSession } from '../session-ref.js'

const HELP = `
The address has a code that logs in one browser, once and within a minute; the login ends after 12 hours. Without a
desktop the address is only printed, as a QR code too where another device can reach the gateway. Behind a reverse proxy
it is the address that is configured as publicUrl.`

interface OpenOptions {
  readonly scope?: Scope
  readonly workspace?: string[]
  readonly browser: boolean
  readonly json?: boolean
}

export const define: Define = (command) =>
  command
    .description('open the web console')
    .argument('[session]', 'id or label of a session to show')
    .choice('--scope <scope>', 'what the browser may do (default: admin)', SCOPES)
    .option('--workspace <slug...>', 'show only the sessions of these workspaces')
    .option('--no-browser', 'only print the address')
    .json()
    .examples('open', 'open fix-tests', 'open --scope read --no-browser')
    .addHelpText('after', HELP)
    .run(open)

/** @throws `session_not_found`, `forbidden` for a token that is not `admin` */
async function open(context: CliContext, ref: string | undefined, options: OpenOptions): Promise<CommandResult> {
  const client = await connect(context)
  const place = ref === undefined ? '' : await sessionPlace(client, ref)
  const { scope, workspace: workspaces } = options
  const code = await client.browserCode(defined({ scope, workspaces }))
  const address = new URL((code.url ?? `${await ownAddress(context)}${code.page}`) + place).href
  const opens = options.browser && options.json !== true && hasDesktop(context)
  if (opens) openInBrowser(context, await redirectFile(context, address))
  return {
    json: { url: address, expiresAt: code.expiresAt },
    text: textOf(context, address),
    note: opens ? OPENED : undefined,
  }
}

const OPENED = 'Opened in your browser. If nothing appears, open the address above within a minute.'

const ownAddress = async (context: CliContext): Promise<string> => (await findDaemon(context)).url.replace(/\/+$/, '')

const sessionPlace = async (client: Client, ref: string): Promise<string> =>
  `/sessions/${encodeURIComponent((await findSession(client, ref)).id)}`

/**
 * A page that leads to the address. The browser gets the name of this file, which only its owner may read: other users can see
 * the arguments of a process, and would have a minute to use the code.
 */
async function redirectFile(context: CliContext, address: string): Promise<string> {
  const path = join(homeOf(context).root, 'open.html')
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const page = `<!doctype html><meta http-equiv="refresh" content="0; url=${address.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">`
  await writeFileAtomic(path, page, { mode: 0o600 })
  return pathToFileURL(path).href
}

function textOf({ stdout }: CliContext, address: string): string[] {
  const isReachable = !/^https?:\/\/(localhost|127\.|\[::1\])/.test(address)
  const picture = stdout.isTTY === true && isReachable ? ['', ...renderUnicodeCompact(address).split('\n')] : []
  return [address, ...picture]
}
