import { parseSandbox, parseSecrets } from '@agentproto/manifest'
import { expect, test } from 'vitest'

const secretsOf = (entry: object) => {
  const base = { slug: 'team/key', name: 'Key', description: 'A key.' }
  return parseSecrets(`---\n${JSON.stringify({ secrets: [{ ...base, ...entry }] })}\n---\n`, { path: 'SECRETS.md' })
}
const codesOf = (result: ReturnType<typeof parseSecrets>): readonly string[] =>
  (result.ok ? result.warnings : result.problems).map(({ severity, code }) => `${severity} ${code}`)

test('12.C3 a SECRETS.md as AIP-19 has it is accepted, and each variable gets its part of the value', () => {
  const result = secretsOf({
    kind: 'oauth',
    backend: 'vault://team/key',
    exposures: [
      { kind: 'env', name: 'ACCESS', field: 'accessToken' },
      { kind: 'env', name: 'REFRESH', field: 'refreshToken' },
      { kind: 'env', name: 'WHOLE' },
      { kind: 'of-the-future', anything: 1 },
    ],
    audit: { retention: '90d', pii: true, classification: ['internal'] },
    tags: ['team'],
    metadata: { anything: 1 },
  })
  expect(codesOf(result)).toEqual([])
  expect(result.ok && result.manifest.secrets[0]).toMatchObject({
    variables: ['ACCESS', 'REFRESH', 'WHOLE'],
    fields: { ACCESS: 'accessToken', REFRESH: 'refreshToken' },
  })
})

test('12.C3 what AIP-19 has and this host does not do is a warning', () => {
  const result = secretsOf({
    exposures: [
      { kind: 'file', path: '/run/key', field: 'value', mode: 384 },
      { kind: 'egress-substitute', placeholderName: 'KEY', allowedByDefault: false, intendedProviders: ['a'] },
    ],
    access: { reveal: [{ role: 'admin' }], bind: [{ cap: 'cap://a' }, { tool: 't' }], rotate: [{ workflow: 'w' }] },
  })
  expect(codesOf(result)).toEqual(Array<string>(3).fill('warning block_ignored'))
})

test.each<[string, object]>([
  ['a part that the kind does not have', { exposures: [{ kind: 'env', name: 'A', field: 'accessToken' }] }],
  ['an empty part', { exposures: [{ kind: 'env', name: 'A', field: '' }] }],
  ['an unknown key of an env exposure', { exposures: [{ kind: 'env', name: 'A', feild: 'value' }] }],
  ['a file without a path', { exposures: [{ kind: 'file' }] }],
  ['a mode that is none', { exposures: [{ kind: 'file', path: '/a', mode: 512 }] }],
  ['a substitute without a default', { exposures: [{ kind: 'egress-substitute', placeholderName: 'A' }] }],
  ['a grant of two', { access: { reveal: [{ role: 'a', tool: 'b' }] } }],
  ['a grant of none', { access: { reveal: [{}] } }],
  ['an unknown grant', { access: { read: [] } }],
  ['a retention that is none', { audit: { retention: 'long' } }],
])('12.C3 %s is refused', (_, entry) => {
  expect(secretsOf(entry).ok).toBe(false)
})

test('12.C3 a SANDBOX.md as AIP-36 has it is accepted, and what is carried reaches the provider', () => {
  const document = {
    schema: 'sandbox/v1',
    id: '@acme/strict',
    version: '1.0.0',
    provider: 'local',
    config: { cwd: '/work', shell: '/bin/sh' },
    limits: { timeout_ms: 1_000, memory_mb: 512, cpu_ms: 1_000 },
    env: { auth: { ref: './SECRETS.md', state: { env: ['ACME_KEY'] } }, passthrough: ['LANG'] },
    network: { egress: ['api.acme.example'] },
    mounts: [{ source: { ref: '@acme/data' }, at: '/data', mode: 'read-only' }],
    identity: { role: 'agent' },
    policy: { ref: './POLICY.md' },
    lifecycle: { pause_after_idle: 'PT5M', destroy_on: ['exit'] },
    read_only: false,
    metadata: { anything: 1 },
  }
  const text = (more: object) => `---\n${JSON.stringify({ ...document, ...more })}\n---\n`
  const parsed = parseSandbox(text({}), { path: 'SANDBOX.md' })
  expect(parsed).toMatchObject({ ok: true, warnings: [] })
  const carried = { identity: { role: 'agent' }, policy: { ref: './POLICY.md' }, lifecycle: document.lifecycle }
  expect(parsed.ok && parsed.manifest).toMatchObject({ carried, env: { secretsRef: './SECRETS.md' } })
  expect(parseSandbox(text({ polcy: {} }), { path: 'SANDBOX.md' }).ok).toBe(false)
  expect(parseSandbox(text({ config: undefined }), { path: 'SANDBOX.md' }).ok).toBe(false)
})
