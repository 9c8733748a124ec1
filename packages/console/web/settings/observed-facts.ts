import type { AgentObservation, ObservedAgent } from '@agentproto/contracts/agent'

type Fact = readonly [string, string]

/** What was measured of an agent when it was added: its ways to log in, each for itself, and the rest in one line. */
export function observedFacts(observed: ObservedAgent): readonly Fact[] {
  const on = `on ${observed.at.slice(0, 10)}`
  if ('failed' in observed)
    return [['Measured', `${on}: its handshake failed, ${observed.failed.code}: ${observed.failed.message}`]]
  const { handshakeMs, ends, endMs } = observed
  const times = `handshake in ${timeText(handshakeMs)}; ${ENDS[ends]} after ${timeText(endMs)}`
  return [...loginFacts(observed), ['Measured', `${on}: ${times}; leaves ${leftText(observed)}`]]
}

/** So many of them have a line: an agent may name 200. */
const LOGINS = 12

function loginFacts({ logins }: AgentObservation): readonly Fact[] {
  const shown = logins
    .slice(0, LOGINS)
    .map(({ name, needsTerminal }) => `${name}${needsTerminal ? ' (in a terminal)' : ''}`)
  const more = logins.length > LOGINS ? [`and ${logins.length - LOGINS} more ways`] : []
  return [...shown, ...more].map((text) => ['Log in by', text] as const)
}

const ENDS: Readonly<Record<AgentObservation['ends'], string>> = {
  stdin: 'ends with its stdin',
  SIGTERM: 'ends by SIGTERM',
  SIGKILL: 'ends by SIGKILL',
}

function leftText({ leaves: { processes, files, bytes } }: AgentObservation): string {
  const running = processes.length === 0 ? [] : [`processes (${processes.join(', ')})`]
  const stored = files === 0 ? [] : [`${files} ${files === 1 ? 'file' : 'files'} of ${sizeText(bytes)}`]
  return [...running, ...stored].join(' and ') || 'nothing'
}

const sizeText = (bytes: number): string =>
  bytes < 1 << 20 ? `${Math.ceil(bytes / 1_024)} KiB` : `${Math.round(bytes / (1 << 20))} MiB`

const timeText = (ms: number): string => (ms < 1_000 ? `${ms} ms` : `${(ms / 1_000).toFixed(1)} s`)
