import { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
import type { StoredGateway } from '@agentproto/secrets'
import type { CliCommand, CommandResult } from '../cli-command.js'
import type { CliContext } from '../cli-context.js'
import { withAudit } from '../home-audit.js'
import { readInput } from '../read-input.js'
import { assertPrivate, parseRemoteUrl } from '../remote/remote-url.js'
import { MAKE_ONE, openGatewayTokens } from '../remote/stored-token.js'
import { ageSince } from '../render/age.js'
import { tableFor } from '../render/table.js'

const HELP = `
Examples:
  $ agentproto remote login https://build.example.com       ask for the token, without showing it
  $ ssh build agentproto token create --name laptop --scope operate | agentproto remote login https://build.example.com
  $ agentproto acp --remote https://build.example.com       for an editor here, with agents there; see docs/ide.md

A token is never an argument and never a part of the address, because other users can see arguments in the process list.
It is stored for exactly one address, in the keyring if there is one. Every command uses it when AGENTPROTO_URL is this
address, with https or on this machine. AGENTPROTO_TOKEN overrides it.`

interface LoginOptions {
  readonly store?: 'keyring' | 'file'
  readonly allowInsecure?: boolean
}

export function define(remote: CliCommand): void {
  remote.description('gateways on other machines, and your tokens for them').addHelpText('after', HELP)
  remote
    .subcommand('login <url>', 'store a token for a gateway; it comes from stdin or a prompt')
    .choice('--store <store>', 'where to store it (default: the keyring, if there is one)', ['keyring', 'file'])
    .option('--allow-insecure', 'allow plain HTTP to another machine')
    .json()
    .examples('remote login https://build.example.com')
    .run(logIn)
  remote
    .subcommand('list', 'list the gateways with a stored token; never a token')
    .json()
    .examples('remote list')
    .run(list)
  remote
    .subcommand('logout <url>', 'remove the stored token of a gateway')
    .json()
    .examples('remote logout https://build.example.com')
    .run(logOut)
}

async function logIn(context: CliContext, written: string, options: LoginOptions): Promise<CommandResult> {
  const { store, allowInsecure = false } = options
  // Fails before the user is asked for a token.
  const { url } = parseRemoteUrl(written)
  assertPrivate({ url, agent: undefined }, allowInsecure)
  const token = await readToken(context, url)
  const check = await checkToken(context, { remote: url, allowInsecure, token })
  const tokens = await openGatewayTokens(context)
  const { place } = await withAudit(context, { action: 'remote-login', url }, () =>
    tokens.set(url, token, store === undefined ? {} : { place: store }),
  )
  return {
    json: { url, place, checked: check.checked },
    note: `The token for ${url} is stored, in the ${place}.${check.note}`,
  }
}

const TOKEN_BYTES_MAX = 8_192

async function readToken(context: CliContext, url: string): Promise<string> {
  const { stdin } = context
  const token = (stdin.isTTY === true ? await askToken(context, url) : await readInput(stdin, TOKEN_BYTES_MAX)).trim()
  if (token !== '') return token
  throw new AgentprotoError('invalid_request', 'stdin holds no token', {
    hint: `${MAKE_ONE}; then pipe what it prints into agentproto remote login ${url}`,
  })
}

async function askToken(context: CliContext, url: string): Promise<string> {
  const { askValue } = await import('../adapters/setup-terminal.js')
  const question = { kind: 'value', type: 'secret', prompt: `Token for ${url}` } as const
  return String(await askValue(context, question, new AbortController().signal))
}

interface Checking {
  readonly remote: string
  readonly allowInsecure: boolean
  readonly token: string
}

/** A token that the gateway rejects is not stored. One of a gateway that does not answer now is. */
async function checkToken(context: CliContext, checking: Checking): Promise<{ checked: boolean; note: string }> {
  const { connectRemote } = await import('../remote/connect-remote.js')
  try {
    const { client, leave } = await connectRemote(context, checking)
    const { scope, name } = await client.caller()
    leave()
    const limit = scope === 'read' ? ' It can look at sessions, but not start or drive them.' : ''
    return { checked: true, note: ` It is ${name}, with the scope ${scope}.${limit}` }
  } catch (thrown) {
    if (!isAgentprotoError(thrown) || thrown.code !== 'daemon_not_running') throw thrown
    return { checked: false, note: ` It is not checked: ${thrown.message}` }
  }
}

async function list(context: CliContext): Promise<CommandResult> {
  const gateways = await (await openGatewayTokens(context)).list()
  const json = { gateways }
  if (gateways.length === 0)
    return { json, text: 'No tokens for other gateways. Store one with: agentproto remote login <url>' }
  const text = tableFor<StoredGateway>(context, gateways, (paint) => [
    { title: 'GATEWAY', cell: ({ url }) => url, paint: paint.cyan, shrinkTo: 16 },
    { title: 'TOKEN', cell: ({ place }) => place },
    { title: 'AGE', cell: ({ updatedAt }) => ageSince(updatedAt), dropOrder: 1 },
  ])
  return { json, text }
}

async function logOut(context: CliContext, written: string): Promise<CommandResult> {
  const { url } = parseRemoteUrl(written)
  const tokens = await openGatewayTokens(context)
  const removed = await withAudit(context, { action: 'remote-logout', url }, () => tokens.remove(url))
  if (!removed)
    throw new AgentprotoError('token_not_found', `No token is stored for ${url}`, {
      hint: 'List them with: agentproto remote list',
    })
  return {
    json: { url, removed },
    note: `The token for ${url} is removed here. It stays valid there until it is revoked.`,
  }
}
