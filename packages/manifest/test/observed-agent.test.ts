import type { AgentObservation } from '@agentproto/contracts/agent'
import { observedBlock, observedMembers, parseAgentCli } from '@agentproto/manifest'
import { expect, test } from 'vitest'
import { MEASURED } from './fixtures/measured-agent.ts'

const OBSERVED: AgentObservation = {
  ...MEASURED,
  capabilities: { ...MEASURED.capabilities, embeddedContext: true },
  session: { refused: { code: 'handshake_failed', agentCode: -32603, message: 'model not configured' } },
}

function parse(observed: unknown) {
  const document = {
    name: 'sample',
    id: 'sample',
    description: 'A sample.',
    version: '1.0.0',
    bin: 'sample',
    install: [{ method: 'npm', package: 'sample' }],
    version_check: { cmd: 'sample --version', parse: String.raw`(\d+\.\d+\.\d+)`, range: '*' },
    sandbox: { provider: 'local' },
    protocol: 'acp',
    acp: './ACP.md',
    metadata: { agentproto: { observed } },
  }
  const parsed = parseAgentCli(`---\n${JSON.stringify(document)}\n---\n`, { path: 'sample/AGENT-CLI.md' })
  return parsed.ok ? parsed.warnings : parsed.problems
}

test('18.3 what was measured is in a manifest with keys in its style, and is read again as it was', () => {
  const block = observedBlock(OBSERVED)
  expect(block).toMatchObject({ handshake_ms: 64, capabilities: { embedded_context: true } })
  expect(observedMembers(block)).toEqual(OBSERVED)
  expect(parse(block)).toEqual([])
  expect(parse({ at: OBSERVED.at, failed: { code: 'timeout', message: 'No answer' } })).toEqual([])
})

test('18.3 an unknown member of it, a wrong one and a missing one are refused with their place', () => {
  const block = observedBlock(OBSERVED)
  const codes = (observed: unknown) => parse(observed).map(({ code, message }) => [code, message])
  expect(codes({ ...block, secret: 'x' })).toEqual([['key_unknown', expect.stringContaining('no key `secret`')]])
  expect(codes({ ...block, leaves: { processes: [], files: 0, bytes: 0, more: 1 } })).toEqual([
    ['key_unknown', expect.stringContaining('observed.leaves')],
  ])
  expect(codes({ ...block, ends: 'SIGHUP' })).toEqual([['value_unknown', expect.stringContaining('observed.ends')]])
  expect(codes({ ...block, agent_name: 'x'.repeat(201) })).toEqual([['value_too_long', expect.any(String)]])
  const { at: _, ...timeless } = block
  expect(codes(timeless)).toEqual([['key_missing', expect.stringContaining('`at`')]])
  expect(codes({ failed: { code: 'timeout', message: 'x' }, at: OBSERVED.at, ends: 'stdin' })).toEqual([
    ['key_unknown', expect.stringContaining('no key `ends`')],
  ])
  expect(codes('yes')).not.toEqual([])
})
