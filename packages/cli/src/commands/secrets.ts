import { text } from 'node:stream/consumers'
import { AgentprotoError, EXIT, type SecretStatus } from '@agentproto/contracts'
import {
  createSecrets,
  isSecretSlug,
  parseSecretValue,
  REDACTABLE_CHARS_MIN,
  type Secrets,
  type SecretValue,
} from '@agentproto/secrets'
import { adaptersOf } from '../adapters/adapters-of.js'
import { askPerson } from '../adapters/person.js'
import { homeOf } from '../daemon/daemon-record.js'
import { paintOf, print, printJson, widthOf, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { noted } from '../noted.js'
import { age } from '../render/age.js'
import { renderTable, type Column } from '../render/table.js'

export interface SetSecretOptions {
  readonly store?: 'keyring' | 'file'
  readonly oauth?: boolean
  readonly json?: boolean
}

/** `agentproto secrets set`: the value comes from stdin or a hidden prompt, never from an argument. */
export async function setSecret(io: Io, slug: string, { store, oauth, json }: SetSecretOptions): Promise<number> {
  // Before anybody is asked for a value that would then be refused.
  if (!isSecretSlug(slug)) await secretsOf(io).set(slug, { kind: 'opaque', value: '-' })
  const value = oauth === true ? await oauthValue(io, slug) : await plainValue(io, slug)
  const where = store === undefined ? {} : { place: store }
  const about = { action: 'secret-set', secret: slug }
  const { place } = await noted(io, about, () => secretsOf(io).set(slug, value, where))
  if (value.kind !== 'oauth' && value.value.length < REDACTABLE_CHARS_MIN) {
    print(
      io.stderr,
      `agentproto: It is so short that it cannot be told from ordinary text: it is not taken out of logs.`,
    )
  }
  if (json === true) printJson(io, { slug, place, set: true })
  else print(io.stderr, `${slug} is set, in the ${place ?? 'store'}.`)
  return EXIT.ok
}

/** `agentproto secrets list`: those that are set here and those that an adapter declares; never a value. */
export async function listSecrets(io: Io, { json }: JsonOption): Promise<number> {
  const secrets = await (await adaptersOf(io)).secrets()
  if (json === true) printJson(io, { secrets })
  else if (secrets.length === 0) print(io.stdout, 'No secrets. Set one with: agentproto secrets set <slug>')
  else print(io.stdout, table(io, secrets))
  return EXIT.ok
}

/** `agentproto secrets rm`. */
export async function removeSecret(io: Io, slug: string, { json }: JsonOption): Promise<number> {
  await noted(io, { action: 'secret-remove', secret: slug }, () => secretsOf(io).remove(slug))
  if (json === true) printJson(io, { slug, set: false })
  else print(io.stderr, `${slug} is removed.`)
  return EXIT.ok
}

const secretsOf = (io: Io): Secrets =>
  createSecrets({
    home: homeOf(io).root,
    env: io.env,
    onWarning: (message) => print(io.stderr, `agentproto: ${message}`),
  })

async function plainValue(io: Io, slug: string): Promise<SecretValue> {
  const value = io.stdin.isTTY === true ? await hidden(io, `Value of ${slug}`) : withoutNewline(await text(io.stdin))
  if (value === '') throw noValue(`printf %s "$KEY" | agentproto secrets set ${slug}`)
  return { kind: value.includes('\n') && value.includes('-----BEGIN') ? 'keypair' : 'opaque', value }
}

/** The three parts, in the names of OAuth or in ours. */
async function oauthValue(io: Io, slug: string): Promise<SecretValue> {
  if (io.stdin.isTTY === true) {
    const accessToken = await hidden(io, `Access token of ${slug}`)
    const refreshToken = await hidden(io, 'Refresh token (Enter for none)', '')
    return parseSecretValue({ kind: 'oauth', accessToken, ...(refreshToken === '' ? {} : { refreshToken }) })
  }
  const given = parsed(await text(io.stdin))
  const example = `agentproto secrets set ${slug} --oauth < tokens.json`
  if (typeof given !== 'object' || given === null) throw noValue(example)
  const part = (...names: readonly string[]): unknown =>
    names.map((name) => (given as Record<string, unknown>)[name]).find((each) => each !== undefined)
  const [refreshToken, expiresAt] = [part('refreshToken', 'refresh_token'), part('expiresAt', 'expires_at')]
  return parseSecretValue({
    kind: 'oauth',
    accessToken: part('accessToken', 'access_token'),
    ...(refreshToken === undefined ? {} : { refreshToken }),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  })
}

const hidden = async (io: Io, prompt: string, fallback?: string): Promise<string> =>
  String(
    await askPerson(
      io,
      { kind: 'value', type: 'secret', prompt, ...(fallback === undefined ? {} : { default: fallback }) },
      new AbortController().signal,
    ),
  )

/** `echo` adds one newline; any other belongs to the value. */
const withoutNewline = (value: string): string => value.replace(/\r?\n$/, '')

function parsed(value: string): unknown {
  try {
    return JSON.parse(value)
  } catch {
    return undefined
  }
}

const noValue = (example: string): AgentprotoError =>
  new AgentprotoError('invalid_request', 'There is no value on stdin', { hint: `Pipe it in: ${example}` })

function table(io: Io, secrets: readonly SecretStatus[]): string[] {
  const paint = paintOf(io, io.stdout)
  const columns: Column<SecretStatus>[] = [
    { title: 'SLUG', cell: ({ slug }) => slug, paint: paint.cyan },
    { title: 'KIND', cell: ({ kind }) => kind, dropOrder: 2 },
    {
      title: 'SET',
      cell: ({ set, place }) => (set ? (place ?? 'yes') : 'no'),
      paint: (cell, { set }) => (set ? paint.green(cell) : paint.dim(cell)),
    },
    { title: 'VARIABLES', cell: ({ variables }) => variables.join(', '), shrinkTo: 8, dropOrder: 1 },
    {
      title: 'AGE',
      cell: ({ updatedAt }) => (updatedAt === undefined ? '' : age(Date.now() - Date.parse(updatedAt))),
      dropOrder: 3,
    },
  ]
  const [titles = '', ...rows] = renderTable(columns, secrets, widthOf(io.stdout))
  return [paint.bold(titles), ...rows]
}
