import type { AgentObservation } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { observedRows } from '../src/render/observed-rows.ts'

const OBSERVED: AgentObservation = {
  at: '2026-11-23T10:00:00.000Z',
  agentName: 'Auggie',
  agentVersion: '0.36.0',
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
  modes: [
    { id: 'ask', name: 'Ask' },
    { id: 'auto', name: 'Auto' },
  ],
  models: Array.from({ length: 20 }, (_, index) => `model-${index}`),
  mode: 'ask',
  logins: [
    { id: 'key', name: 'API key', needsTerminal: false },
    { id: 'browser', name: 'Log in\u001b[2J', needsTerminal: true },
  ],
  session: { refused: { code: 'auth_required', agentCode: -32000, message: 'Log in first' } },
  ends: 'SIGTERM',
  endMs: 8_510,
  stdoutNoise: { lines: 1, first: 'Welcome!' },
  leaves: { processes: ['sleep'], files: 3, bytes: 3 << 20 },
}

test('18.3 what was measured is shown in rows that say what it means', () => {
  expect(observedRows(OBSERVED).map((row) => row.join(': '))).toEqual([
    'measured: on 2026-11-23: Auggie 0.36.0, ACP 1, handshake in 1.1 s',
    'can: load sessions, images, MCP over HTTP',
    'own modes: ask (begins with it), auto',
    expect.stringMatching(/^own models: model-0, .*model-11 and 8 more$/),
    expect.stringMatching(/^log in by: API key; Log in.* \(in a terminal\)$/),
    'session: refused without a login, auth_required (-32000): Log in first',
    'ends: by SIGTERM: it ignores the end of its stdin, after 8.5 s',
    'noise: 1 line of stdout that no protocol has: Welcome!',
    'leaves: processes (sleep) and 3 files of 3 MiB',
  ])
  expect(observedRows(OBSERVED).flat().join('')).not.toContain('\u001b')
})

test('18.3 an agent whose handshake failed has its reason, and one that leaves nothing says so', () => {
  const failed = {
    at: OBSERVED.at,
    failed: { code: 'timeout', message: 'The agent did not answer initialize' },
  } as const
  expect(observedRows(failed)).toEqual([
    ['measured', 'on 2026-11-23: its handshake failed, timeout: The agent did not answer initialize'],
  ])
  const quiet = { ...OBSERVED, session: 'opened', ends: 'stdin', endMs: 20, stdoutNoise: { lines: 0 } } as const
  const rows = observedRows({ ...quiet, modes: [], models: [], leaves: { processes: [], files: 0, bytes: 0 } })
  expect(rows.slice(3)).toEqual([
    ['session', 'opened without a login'],
    ['ends', 'with its stdin, after 20 ms'],
    ['leaves', 'nothing'],
  ])
})
