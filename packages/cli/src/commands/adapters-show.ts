import { EXIT, type AdapterState, type AdapterSummary } from '@agentproto/contracts'
import { adaptersOf } from '../adapters/adapters-of.js'
import { paintOf, print, printJson, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import type { Paint } from '../render/paint.js'
import { oneLine } from '../render/printable.js'

/** `agentproto adapters show`: the adapter, and how far its agent is. */
export async function showAdapter(io: Io, slug: string, { json }: JsonOption): Promise<number> {
  const adapters = await adaptersOf(io)
  const [summary, state] = await Promise.all([adapters.get(slug), adapters.state(slug)])
  if (json === true) printJson(io, { ...summary, state })
  else print(io.stdout, details(summary, state, paintOf(io, io.stdout)))
  return EXIT.ok
}

function details(summary: AdapterSummary, state: AdapterState, paint: Paint): string[] {
  const rows: readonly (readonly [string, string])[] = [
    ['version', `${summary.version} of the manifest, ${summary.source}`],
    ['protocol', summary.protocol],
    ['modes', summary.modes.join(', ') || 'none'],
    ['installed', installedAs(state, paint)],
    ['needs', `a version in ${state.versionRange}`],
    ...state.setup.map(
      ({ id, state: step, kind }) =>
        ['setup', `${id} (${kind}): ${step === 'pending' ? paint.yellow(step) : step}`] as const,
    ),
    ['login', LOGINS[state.auth]],
    ...state.secrets.map(
      ({ slug, set, place, variables }) =>
        [
          'secret',
          `${slug}: ${set ? `set, ${place ?? ''}` : 'not set'}${variables.length === 0 ? '' : ` → ${variables.join(', ')}`}`,
        ] as const,
    ),
    ...(summary.unverified ?? []).map((text) => ['unverified', text] as const),
    ['ready', state.ready ? paint.green('yes') : paint.yellow('no')],
    ...(state.next === undefined ? [] : [['next', paint.bold(state.next)] as const]),
  ]
  return [
    `${paint.cyan(summary.slug)}  ${paint.bold(oneLine(summary.name))}`,
    `  ${oneLine(summary.description)}`,
    '',
    ...rows.map(([title, text]) => `  ${paint.dim(title.padEnd(11))}${text}`),
  ]
}

function installedAs({ installed, executable = '', version, versionOk, method }: AdapterState, paint: Paint): string {
  if (!installed) return paint.yellow('no')
  const told =
    version === undefined
      ? 'not checked yet'
      : versionOk === false
        ? paint.red(`${version}, which does not fit`)
        : version
  return `${told}, ${executable}${method === undefined ? '' : `, by ${method}`}`
}

const LOGINS: Readonly<Record<AdapterState['auth'], string>> = {
  not_needed: 'not needed',
  unknown: 'only a session can tell',
  unauthed: 'not logged in',
  authed: 'logged in',
}
