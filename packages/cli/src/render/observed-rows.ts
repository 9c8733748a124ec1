import type { AgentObservation, ObservedAgent } from '@agentproto/contracts/agent'
import { oneLine } from './printable.js'

type Row = readonly [string, string]

/** What was measured of an agent, as rows of a title and a text. */
export function observedRows(observed: ObservedAgent): readonly Row[] {
  const on = `on ${observed.at.slice(0, 10)}`
  if ('failed' in observed)
    return [['measured', `${on}: its handshake failed, ${observed.failed.code}: ${oneLine(observed.failed.message)}`]]
  const { agentName, agentVersion, protocolVersion, handshakeMs } = observed
  const name = [agentName, agentVersion].filter((text) => text !== undefined).join(' ')
  return [
    ['measured', `${on}: ${oneLine(name) || 'no name'}, ACP ${protocolVersion}, handshake in ${seconds(handshakeMs)}`],
    ['can', capabilitiesText(observed)],
    ...listRow(
      'own modes',
      observed.modes.map(({ id }) => id),
      observed.mode,
    ),
    ...listRow('own models', observed.models, observed.model),
    ['log in by', observed.logins.map(loginText).join('; ') || 'no way that it names'],
    ['session', sessionText(observed)],
    ['ends', endText(observed)],
    ...noiseRows(observed),
    ['leaves', leftText(observed)],
  ]
}

const NAMES: Readonly<Record<keyof AgentObservation['capabilities'], string>> = {
  load: 'load sessions',
  resume: 'resume sessions',
  list: 'list sessions',
  close: 'close sessions',
  fork: 'fork sessions',
  delete: 'delete sessions',
  image: 'images',
  audio: 'audio',
  embeddedContext: 'embedded context',
  mcpHttp: 'MCP over HTTP',
  mcpSse: 'MCP over SSE',
  additionalDirectories: 'additional directories',
}

function capabilitiesText({ capabilities }: AgentObservation): string {
  const names = Object.entries(NAMES) as [keyof typeof NAMES, string][]
  const had = names.flatMap(([key, name]) => (capabilities[key] === true ? [name] : []))
  return had.join(', ') || 'nothing beyond prompts of text'
}

/** Long lists are cut: `--json` has them whole. */
const SHOWN = 12

function listRow(title: string, ids: readonly string[], current: string | undefined): readonly Row[] {
  if (ids.length === 0) return []
  const shown = ids.slice(0, SHOWN).map((id) => `${oneLine(id)}${id === current ? ' (begins with it)' : ''}`)
  const more = ids.length > SHOWN ? ` and ${ids.length - SHOWN} more` : ''
  return [[title, `${shown.join(', ')}${more}`]]
}

/** The command for an agent that names ways to log in; undefined where none is known. */
export const loginCommand = (slug: string, observed: ObservedAgent | undefined): string | undefined =>
  observed !== undefined && 'logins' in observed && observed.logins.length > 0
    ? `agentproto adapters login ${slug}`
    : undefined

const loginText = ({ name, needsTerminal }: AgentObservation['logins'][number]): string =>
  `${oneLine(name)}${needsTerminal ? ' (in a terminal)' : ''}`

function sessionText({ session }: AgentObservation): string {
  if (session === 'opened') return 'opened without a login'
  const { code, agentCode, message } = session.refused
  return `refused without a login, ${code}${agentCode === undefined ? '' : ` (${agentCode})`}: ${oneLine(message)}`
}

const ENDS: Readonly<Record<AgentObservation['ends'], string>> = {
  stdin: 'with its stdin',
  SIGTERM: 'by SIGTERM: it ignores the end of its stdin',
  SIGKILL: 'by SIGKILL: it ignores the end of its stdin and SIGTERM',
}

const endText = ({ ends, endMs }: AgentObservation): string => `${ENDS[ends]}, after ${seconds(endMs)}`

function noiseRows({ stdoutNoise: { lines, first } }: AgentObservation): readonly Row[] {
  if (lines === 0) return []
  return [
    ['noise', `${lines} ${lines === 1 ? 'line' : 'lines'} of stdout that no protocol has: ${oneLine(first ?? '')}`],
  ]
}

function leftText({ leaves: { processes, files, bytes } }: AgentObservation): string {
  const running = processes.length === 0 ? [] : [`processes (${processes.map(oneLine).join(', ')})`]
  const stored = files === 0 ? [] : [`${files} ${files === 1 ? 'file' : 'files'} of ${sizeText(bytes)}`]
  return [...running, ...stored].join(' and ') || 'nothing'
}

const sizeText = (bytes: number): string =>
  bytes < 1 << 20 ? `${Math.ceil(bytes / 1_024)} KiB` : `${Math.round(bytes / (1 << 20))} MiB`

const seconds = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`)
