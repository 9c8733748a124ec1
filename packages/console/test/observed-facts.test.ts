import type { AgentObservation } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { shown } from '../web/parts/shown-text.js'
import { observedFacts } from '../web/settings/observed-facts.js'

const OBSERVED: AgentObservation = {
  at: '2026-11-23T10:00:00.000Z',
  protocolVersion: 1,
  handshakeMs: 1_060,
  capabilities: {
    load: true,
    resume: false,
    list: false,
    close: false,
    fork: false,
    image: true,
    audio: false,
    embeddedContext: false,
    mcpHttp: true,
    mcpSse: false,
    additionalDirectories: false,
  },
  modes: [],
  models: [],
  logins: [
    { id: 'key', name: 'API key', needsTerminal: false },
    { id: 'browser', name: '<b>Log in</b>\u202E', needsTerminal: true },
  ],
  session: { refused: { code: 'auth_required', message: 'Log in first' } },
  ends: 'SIGTERM',
  endMs: 8_510,
  stdoutNoise: { lines: 0 },
  leaves: { processes: ['sleep'], files: 3, bytes: 3 << 20 },
}

const linesOf = (observed: Parameters<typeof observedFacts>[0]): readonly string[] =>
  observedFacts(observed).map(([title, text]) => `${title}: ${shown(text)}`)

test('18.5 what was measured of an agent is one line, and each way to log in is one of its own', () => {
  expect(linesOf(OBSERVED)).toEqual([
    'Log in by: API key',
    'Log in by: <b>Log in</b>⟨U+202E⟩ (in a terminal)',
    'Measured: on 2026-11-23: handshake in 1.1 s; ends by SIGTERM after 8.5 s; leaves processes (sleep) and 3 files of 3 MiB',
  ])
  const quiet = {
    ...OBSERVED,
    logins: [],
    ends: 'stdin',
    endMs: 20,
    leaves: { processes: [], files: 0, bytes: 0 },
  } as const
  expect(linesOf(quiet)).toEqual([
    'Measured: on 2026-11-23: handshake in 1.1 s; ends with its stdin after 20 ms; leaves nothing',
  ])
})

test('18.5 an agent that names very many ways to log in has a line for twelve, and one for the rest', () => {
  const logins = Array.from({ length: 200 }, (_, index) => ({
    id: `${index}`,
    name: `way ${index}`,
    needsTerminal: false,
  }))
  const lines = linesOf({ ...OBSERVED, logins })
  expect(lines).toHaveLength(14)
  expect(lines[12]).toBe('Log in by: and 188 more ways')
})

test('18.5 an agent whose handshake failed has the reason', () => {
  const failed = { code: 'timeout', message: 'The agent did not answer initialize' } as const
  expect(linesOf({ at: OBSERVED.at, failed })).toEqual([
    'Measured: on 2026-11-23: its handshake failed, timeout: The agent did not answer initialize',
  ])
})
