import { parseAgentCli } from '@agentproto/manifest'
import type { AgentCliManifest } from '@agentproto/manifest'
import { expect, test } from 'vitest'
import { instructionChannel } from '../src/launch/instruction-channel.js'
import { planLaunch } from '../src/launch/launch-plan.js'
import { sessionPolicy } from '../src/session/session-policy.js'

function manifestWith(agentproto: object): AgentCliManifest {
  const document = {
    name: 'sample',
    id: 'sample',
    description: 'An agent',
    version: '1.0.0',
    bin: 'sample',
    bin_args: ['serve'],
    install: [{ method: 'npm', package: 'sample' }],
    version_check: { cmd: 'sample --version', parse: '(.*)', range: '*' },
    sandbox: { provider: 'local', config: {} },
    protocol: 'acp',
    acp: './ACP.md',
    session: { mode: 'resumable', max_turns: 3 },
    capabilities: { resumable: true },
    continuation: { default: 'pinned-session', supported: ['pinned-session', 'native-resume', 'transcript'] },
    options: [{ id: 'rules', type: 'string', bin_args_template: ['--rules={value}'] }],
    metadata: { agentproto },
  }
  const parsed = parseAgentCli(`---\n${JSON.stringify(document)}\n---\n`, { path: 'sample/AGENT-CLI.md' })
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems))
  return parsed.manifest
}

const plan = (agentproto: object, more: object): ReturnType<typeof planLaunch> =>
  planLaunch(manifestWith(agentproto), { origin: { how: 'new' }, ...more } as Parameters<typeof planLaunch>[1])

const instructions = 'Say "aye".'

test('instructions go by what the manifest names: arguments, a variable, an option, or what opens the session', () => {
  const by = (channel: object): object => plan({ instructions: channel }, { instructions })
  expect(by({ bin_args_template: ['--system', '{value}'] })).toMatchObject({
    args: ['--system', instructions],
    instructed: true,
  })
  expect(by({ env: { SYSTEM: '{"prompt":"{value}"}' } })).toMatchObject({
    compiled: { env: { SYSTEM: '{"prompt":"Say \\"aye\\"."}' } },
    instructed: true,
  })
  expect(by({ option: 'rules' })).toMatchObject({ args: [`--rules=${instructions}`], instructed: true })
  expect(by({ session_meta: { systemPrompt: { append: '{value}' } } })).toMatchObject({
    args: [],
    meta: { systemPrompt: { append: instructions } },
    instructed: true,
  })
})

test('without a channel, or with one that cannot carry the text, the host sends the instructions', () => {
  const channel = { bin_args_template: ['--system', '{value}'] }
  expect(plan({}, { instructions })).toMatchObject({ args: [], instructed: false })
  expect(plan({ instructions: channel }, {})).toMatchObject({ args: [], instructed: false })
  for (const text of ['-v', 'a\0b', 'x'.repeat(100_000)]) {
    expect(instructionChannel(manifestWith({ instructions: channel }), text)).toBeUndefined()
  }
  expect(instructionChannel(manifestWith({ instructions: { env: 'no' } }), 'x')).toBeUndefined()
})

test('a conversation that is resumed by arguments is named in them, and opens as a new session', () => {
  const resume = { bin_args_template: ['--resume', '{value}'] }
  const origin = { how: 'native', agentSessionId: 'abc' }
  expect(plan({ resume }, { origin })).toMatchObject({ args: ['--resume', 'abc'], origin: { how: 'new' } })
  expect(() => plan({ resume }, { origin: { ...origin, agentSessionId: '--evil' } })).toThrow('read as a flag')
})

test('what a host has to know of the sessions of a manifest', () => {
  const resume = { bin_args_template: ['--resume', '{value}'] }
  expect(sessionPolicy(manifestWith({ resume, resume_after_ms: 61_000 }))).toEqual({
    mode: 'resumable',
    maxTurns: 3,
    continuation: ['pinned-session', 'native-resume', 'transcript'],
    resumesByFlags: true,
    resumeAfterMs: 61_000,
  })
})
