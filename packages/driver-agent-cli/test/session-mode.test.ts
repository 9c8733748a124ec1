import { randomId } from '@agentproto/contracts'
import { defineAgentCli, launchAgent, sessionPolicy } from '@agentproto/driver-agent-cli'
import type { Session } from '@agentproto/driver-agent-cli'
import { findMarkedProcesses } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { document, host, say, textOf } from './small-agent.ts'

// An agent that changes its mode in an open session alone, and calls it by a name that AIP-45 does not allow.
const handle = defineAgentCli(
  {
    ...document,
    bin_args: ['acp', '--modes'],
    modes: [{ id: 'accept-edits' }, { id: 'gone' }, { id: 'as-it-is' }],
    metadata: { agentproto: { session_modes: { 'accept-edits': 'acceptEdits', gone: 'removed' } } },
  },
  host,
)

async function start(mode?: string): Promise<Session> {
  const session = await handle.start(mode === undefined ? {} : { mode })
  onTestFinished(async () => void (await session.close()))
  return session
}

test('a mode that stands for one of the agent’s own is set before the first prompt', async () => {
  expect(textOf(await say(await start('accept-edits'), 'mode'))).toBe('acceptEdits')
})

test('without a mode, or with one that stands for none, the agent’s own stays', async () => {
  expect(textOf(await say(await start(), 'mode'))).toBe('ask')
  expect(textOf(await say(await start('as-it-is'), 'mode'))).toBe('ask')
})

test('a mode that the agent does not have ends the start, and leaves no process', async () => {
  const sessionId = randomId('ses_')
  const starting = launchAgent(handle.manifest, {
    sessionId,
    adapterSlug: 'small',
    cwd: process.cwd(),
    mode: 'gone',
    additionalDirectories: [],
    mcpServers: [],
    origin: { how: 'new' },
    env: { AGENTPROTO_SESSION_ID: sessionId },
    signal: new AbortController().signal,
    sink: { emit: () => {}, ask: async () => ({ outcome: 'cancelled' }) },
    host,
  })
  await expect(starting).rejects.toMatchObject({ code: 'mode_unknown' })
  expect(findMarkedProcesses(sessionId)).toEqual([])
})

test('a manifest says which of its agent’s own modes fit a permission mode; what is no mode is left out', () => {
  const policyOf = (permission_modes: unknown): unknown =>
    sessionPolicy({ ...handle.manifest, metadata: { agentproto: { permission_modes } } }).permissionModes
  expect(policyOf({ ask: 'careful', 'approve-all': ['wild', 7], never: 'x' })).toEqual({
    ask: ['careful'],
    'approve-all': ['wild'],
  })
  expect(policyOf('careful')).toBeUndefined()
  expect(policyOf(undefined)).toBeUndefined()
})
