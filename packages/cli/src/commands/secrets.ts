import { text as textOf } from 'node:stream/consumers'
import { AgentprotoError, defined, isRecord, parseJson } from '@agentproto/contracts'
import type { SecretStatus } from '@agentproto/contracts/agent'
import type { Secrets, SecretValue } from '@agentproto/secrets'
import type { CliCommand, CommandResult } from '../cli-command.js'
import { openAdapters } from '../adapters/open-adapters.js'
import { warn, type CliContext } from '../cli-context.js'
import { homeOf } from '../daemon/daemon-record.js'
import { withAudit } from '../home-audit.js'
import { tableFor } from '../render/table.js'
import { ageSince } from '../render/age.js'

const HELP = `
Examples:
  $ agentproto secrets set anthropic-api-key            ask for the value, without showing it
  $ printf %s "$KEY" | agentproto secrets set acme/key
  $ agentproto secrets set acme/login --oauth < tokens.json

A value is never printed, and never an argument, because other users can see arguments in the process list.
An agent gets only the secrets that its adapter declares, in its environment.`

interface SetOptions {
  readonly store?: 'keyring' | 'file'
  readonly oauth?: boolean
}

export function define(secrets: CliCommand): void {
  secrets.description('keys and tokens for agents').addHelpText('after', HELP)
  secrets
    .subcommand('set', 'store a secret; the value comes from stdin or a prompt')
    .argument('<slug>', 'its name, such as acme/key')
    .choice('--store <store>', 'where to store it (default: the keyring, if there is one)', ['keyring', 'file'])
    .option('--oauth', 'tokens: JSON with access_token, refresh_token and expires_at')
    .json()
    .examples('secrets set anthropic-api-key', 'printf %s "$KEY" | agentproto secrets set acme/key')
    .run(set)
  secrets
    .subcommand('list', 'list the secrets, and whether each is set; never a value')
    .json()
    .examples('secrets list')
    .run(list)
  secrets.subcommand('rm <slug>', 'remove a secret').json().examples('secrets rm acme/key').run(remove)
}

async function set(context: CliContext, slug: string, { store, oauth }: SetOptions): Promise<CommandResult> {
  const { isSecretSlug, REDACTABLE_CHARS_MIN } = await import('@agentproto/secrets')
  const secrets = await openSecrets(context)
  // Fails before the user is asked for a value.
  if (!isSecretSlug(slug)) await secrets.set(slug, { kind: 'opaque', value: '-' })
  const value = oauth === true ? await oauthValue(context, slug) : await plainValue(context, slug)
  const { place } = await withAudit(context, { action: 'secret-set', secret: slug }, () =>
    secrets.set(slug, value, store === undefined ? {} : { place: store }),
  )
  if (value.kind !== 'oauth' && value.value.length < REDACTABLE_CHARS_MIN)
    warn(context, 'The value is too short to be redacted: logs may contain it.')
  return { json: { slug, place, set: true }, note: `${slug} is set, in the ${place ?? 'store'}.` }
}

/** Those that are set, and those that an adapter declares. */
async function list(context: CliContext): Promise<CommandResult> {
  const secrets = await (await openAdapters(context)).secrets()
  if (secrets.length === 0)
    return { json: { secrets }, text: 'No secrets. Set one with: agentproto secrets set <slug>' }
  const text = tableFor<SecretStatus>(context, secrets, (paint) => [
    { title: 'SLUG', cell: ({ slug }) => slug, paint: paint.cyan },
    { title: 'KIND', cell: ({ kind }) => kind, dropOrder: 2 },
    {
      title: 'SET',
      cell: ({ set: isSet, place }) => (isSet ? (place ?? 'yes') : 'no'),
      paint: (cell, { set: isSet }) => (isSet ? paint.green(cell) : paint.dim(cell)),
    },
    { title: 'VARIABLES', cell: ({ variables }) => variables.join(', '), shrinkTo: 8, dropOrder: 1 },
    { title: 'AGE', cell: ({ updatedAt }) => (updatedAt === undefined ? '' : ageSince(updatedAt)), dropOrder: 3 },
  ])
  return { json: { secrets }, text }
}

async function remove(context: CliContext, slug: string): Promise<CommandResult> {
  const secrets = await openSecrets(context)
  await withAudit(context, { action: 'secret-remove', secret: slug }, () => secrets.remove(slug))
  return { json: { slug, set: false }, note: `${slug} is removed.` }
}

async function openSecrets(context: CliContext): Promise<Secrets> {
  const { createSecrets } = await import('@agentproto/secrets')
  const onWarning = (message: string): void => warn(context, message)
  return createSecrets({ home: homeOf(context).root, env: context.env, onWarning })
}

async function plainValue(context: CliContext, slug: string): Promise<SecretValue> {
  const { stdin } = context
  const value =
    stdin.isTTY === true ? await askHidden(context, `Value of ${slug}`) : withoutNewline(await textOf(stdin))
  if (value === '') throw noValue(`printf %s "$KEY" | agentproto secrets set ${slug}`)
  return { kind: value.includes('\n') && value.includes('-----BEGIN') ? 'keypair' : 'opaque', value }
}

/** The parts may have the names of OAuth or ours. */
async function oauthValue(context: CliContext, slug: string): Promise<SecretValue> {
  const { parseSecretValue } = await import('@agentproto/secrets')
  if (context.stdin.isTTY === true) {
    const accessToken = await askHidden(context, `Access token of ${slug}`)
    const refreshToken = (await askHidden(context, 'Refresh token (Enter for none)', '')) || undefined
    return parseSecretValue({ kind: 'oauth', accessToken, ...defined({ refreshToken }) })
  }
  const given = parseJson(await textOf(context.stdin))
  if (!isRecord(given)) throw noValue(`agentproto secrets set ${slug} --oauth < tokens.json`)
  const part = (...names: readonly string[]): unknown =>
    names.map((name) => given[name]).find((each) => each !== undefined)
  return parseSecretValue({
    kind: 'oauth',
    accessToken: part('accessToken', 'access_token'),
    ...defined({
      refreshToken: part('refreshToken', 'refresh_token'),
      expiresAt: part('expiresAt', 'expires_at'),
    }),
  })
}

async function askHidden(context: CliContext, prompt: string, fallback?: string): Promise<string> {
  const { askValue } = await import('../adapters/setup-terminal.js')
  const question = { kind: 'value', type: 'secret', prompt, ...defined({ default: fallback }) } as const
  return String(await askValue(context, question, new AbortController().signal))
}

/** `echo` adds one newline. Any other belongs to the value. */
const withoutNewline = (value: string): string => value.replace(/\r?\n$/, '')

const noValue = (example: string): AgentprotoError =>
  new AgentprotoError('invalid_request', 'stdin holds no value', { hint: `Pipe it in: ${example}` })
