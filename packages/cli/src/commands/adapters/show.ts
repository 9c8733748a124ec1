import type { AdapterSummary } from '@agentproto/contracts/agent'
import type { AdapterState } from '@agentproto/contracts/wire'
import type { CommandResult, Define } from '../../cli-command.js'
import { openAdapters } from '../../adapters/open-adapters.js'
import { paintFor, type CliContext } from '../../cli-context.js'
import { loginCommand, observedRows } from '../../render/observed-rows.js'
import { choiceRows } from '../../render/adapter-choices.js'
import type { Paint } from '../../render/paint.js'
import { oneLine } from '../../render/printable.js'

export const define: Define = (command) =>
  command
    .description('show an adapter, and whether its agent is installed, set up and logged in')
    .argument('<slug>')
    .json()
    .examples('adapters show opencode')
    .run(show)

async function show(context: CliContext, slug: string): Promise<CommandResult> {
  const adapters = await openAdapters(context)
  const [summary, state] = await Promise.all([adapters.get(slug), adapters.state(slug)])
  return { json: { ...summary, state }, text: details(summary, state, paintFor(context, context.stdout)) }
}

function details(summary: AdapterSummary, state: AdapterState, paint: Paint): string[] {
  const rows: (readonly string[])[] = [
    ['version', `${summary.version} of the manifest, ${summary.source}`],
    ...fromRegistry(summary),
    ['protocol', summary.protocol],
    ...reachedAt(summary),
    ...choiceRows(summary),
    ...(summary.endpoint === undefined
      ? [
          ['installed', installation(state, paint)],
          ['needs', `a version in ${state.versionRange}`],
        ]
      : []),
    ...state.setup.map(({ id, state: step, kind }) => [
      'setup',
      `${id} (${kind}): ${step === 'pending' ? paint.yellow(step) : step}`,
    ]),
    ['login', loginText(state, summary)],
    ...state.secrets.map((secret) => ['secret', secretText(secret)]),
    ...(summary.observed === undefined ? [] : observedRows(summary.observed)),
    ...(summary.unverified ?? []).map((text) => ['unverified', text]),
    ['ready', readyText(state, paint)],
    ...(state.next === undefined ? [] : [['next', paint.bold(state.next)]]),
  ]
  return [
    `${paint.cyan(summary.slug)}  ${paint.bold(oneLine(summary.name))}`,
    `  ${oneLine(summary.description)}`,
    '',
    ...rows.map(([title = '', text = '']) => `  ${paint.dim(title.padEnd(11))}${text}`),
  ]
}

function fromRegistry({ registry }: AdapterSummary): readonly (readonly string[])[] {
  if (registry === undefined) return []
  const { source, id, name, version, addedAt } = registry
  return [['from', oneLine(`${source}: ${id} ${version} (${name}), added on ${addedAt.slice(0, 10)}`)]]
}

function reachedAt({ endpoint }: AdapterSummary): readonly (readonly string[])[] {
  if (endpoint === undefined) return []
  const { url, headers } = endpoint
  return [['runs at', oneLine(url)], ...(headers.length === 0 ? [] : [['headers', oneLine(headers.join(', '))]])]
}

function installation({ installed, executable = '', version, versionOk, method }: AdapterState, paint: Paint): string {
  if (!installed) return paint.yellow('no')
  const known = version === undefined ? 'version not checked yet' : version
  const checked = versionOk === false ? paint.red(`${known}, which is not supported`) : known
  return `${checked}, ${executable}${method === undefined ? '' : `, by ${method}`}`
}

function secretText({ slug, set, place, variables }: AdapterState['secrets'][number]): string {
  return `${slug}: ${set ? `set, ${place ?? ''}` : 'not set'}${variables.length === 0 ? '' : ` → ${variables.join(', ')}`}`
}

function loginText({ slug, auth, loginHint }: AdapterState, { observed }: AdapterSummary): string {
  if (loginHint === undefined) return LOGINS[auth]
  const command = loginCommand(slug, observed)
  const how = command === undefined ? '' : `; log in with: ${command}`
  return `${LOGINS[auth]}; without one it said: ${oneLine(loginHint)}${how}`
}

function readyText({ ready, loginHint }: AdapterState, paint: Paint): string {
  if (!ready) return paint.yellow('no')
  return loginHint === undefined ? paint.green('yes') : paint.yellow('once it is logged in')
}

const LOGINS: Readonly<Record<AdapterState['auth'], string>> = {
  not_needed: 'not needed',
  unknown: 'unknown until a session starts',
  unauthed: 'not logged in',
  authed: 'logged in',
}
