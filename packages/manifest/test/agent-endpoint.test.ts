import { join } from 'node:path'
import { expect, test } from 'vitest'
import { stringify } from 'yaml'
import { fillSecrets, formatProblem, parseAgentCli, remoteAddress } from '@agentproto/manifest'
import { readAgentCli } from '@agentproto/manifest/node'
import { DOCUMENTS } from './documents.js'
import { tempFolder } from './temp-folder.js'

const BASE = {
  name: 'build',
  id: 'build',
  description: 'An agent that runs elsewhere.',
  version: '0.1.0',
  bin: 'build',
  install: [{ method: 'npm', package: 'build' }],
  version_check: { cmd: 'build --version', parse: String.raw`(\d+\.\d+\.\d+)`, range: '*' },
  sandbox: { provider: 'local' },
  protocol: 'acp',
  acp: './ACP.md',
}

const md = (document: object): string => `---\n${stringify(document)}---\n`
const withEndpoint = (endpoint: unknown, more: object = {}): string =>
  md({ ...BASE, ...more, metadata: { agentproto: { endpoint } } })

const parsed = (endpoint: unknown, more?: object) =>
  parseAgentCli(withEndpoint(endpoint, more), { path: 'build/AGENT-CLI.md' })

function problems(endpoint: unknown, more?: object) {
  const result = parsed(endpoint, more)
  return result.ok ? result.warnings : result.problems
}

const URL_OK = 'wss://build.example.com/acp/claude-code'

test('an endpoint has an address and headers whose secrets are named', () => {
  const headers = {
    authorization: 'Bearer {secret:build-server}',
    'x-team': '{secret:acme/team}, {secret:build-server}',
  }
  const result = parsed({ url: URL_OK, headers })
  expect(result).toMatchObject({
    ok: true,
    warnings: [],
    manifest: { endpoint: { url: URL_OK, headers, secrets: ['build-server', 'acme/team'] } },
  })
  expect(result.ok && remoteAddress(result.manifest)).toBe(URL_OK)
})

test('a secret is put in as it is', () => {
  const values = new Map([
    ['a-b', '$& {secret:c-d}'],
    ['c-d', 'never'],
  ])
  expect(fillSecrets('Bearer {secret:a-b}.', values)).toBe('Bearer $& {secret:c-d}.')
})

test.each([
  ['WSS://Build.Example.com/x', undefined],
  ['wss://build.example.com', 'wss://build.example.com/'],
  ['wss://BUILD.example.com:443/a?b=c@d', 'wss://build.example.com/a?b=c@d'],
  ['wss://2130706433/', 'wss://127.0.0.1/'],
  ['wss://0177.0.0.1/', 'wss://127.0.0.1/'],
  ['wss://bücher.example/', 'wss://xn--bcher-kva.example/'],
  ['ws://localhost:7646/acp', 'ws://localhost:7646/acp'],
  ['https://build.example.com/', undefined],
  ['file:///etc/passwd', undefined],
  ['wss://', undefined],
  ['wss://build.example.com:99999/', undefined],
  ['wss://user@build.example.com/', undefined],
  ['wss://build.example.com@evil.example/', undefined],
  ['wss://build.example.com\\@evil.example/', undefined],
  ['wss://build.example.com/#x', undefined],
  ['wss://build.example.com/{NAME}', undefined],
  ['wss://{secret:build-server}.example.com/', undefined],
  ['wss://build.example.com/ x', undefined],
  ['wss://build.example.com/a\nb', undefined],
  [`wss://build.example.com/${'x'.repeat(2_048)}`, undefined],
])('the address %j is %s', (url, expected) => {
  const result = parsed({ url })
  const address = result.ok ? remoteAddress(result.manifest) : undefined
  expect(address).toBe(expected)
})

test.each([
  ['wss://build.example.com/?token=tok-4711-4711', 'secret_in_manifest'],
  ['wss://build.example.com/?x=sk-4711471147114711', 'secret_in_manifest'],
  ['wss://me:pass-4711@build.example.com/', 'endpoint_invalid'],
  ['wss://pass-4711@build.example.com/', 'endpoint_invalid'],
])('a login in the address is refused, and not shown: %s', (url, code) => {
  const found = problems({ url })
  expect(found).toMatchObject([{ code, severity: 'error' }])
  expect(found.map(formatProblem).join('\n')).not.toContain('4711')
})

test.each([
  ['authorization', 'Bearer tok-4711-4711', 'secret_in_manifest'],
  ['Cookie', 'a=4711', 'secret_in_manifest'],
  ['x-api-key', 'value-4711', 'secret_in_manifest'],
  ['x-other', 'sk-4711471147114711', 'secret_in_manifest'],
  ['authorization', 'Bearer {secret:build-server} sk-4711471147114711', 'secret_in_manifest'],
  ['authorization', 'Bearer {TOKEN_4711}', 'endpoint_invalid'],
  ['authorization', 'Bearer {secret:BUILD_4711}', 'endpoint_invalid'],
  ['authorization', 'Bearer {secret:}4711', 'endpoint_invalid'],
  ['authorization', 'Bearer {env:A4711}', 'endpoint_invalid'],
  ['authorization', 'Bearer ${TOKEN4711}', 'endpoint_invalid'],
  ['x-a', 'b\r\nx-c: 4711', 'endpoint_invalid'],
  ['x-a', 'b\n4711', 'endpoint_invalid'],
  ['x-a', 'ü4711', 'endpoint_invalid'],
  ['x-a', '', 'endpoint_invalid'],
  ['x-a', '4711'.repeat(600), 'endpoint_invalid'],
  ['Host', 'evil-4711.example', 'endpoint_invalid'],
  ['sec-websocket-protocol', 'acp-4711', 'endpoint_invalid'],
  ['Transfer-Encoding', '4711', 'endpoint_invalid'],
])('the header %s: %j is refused, and its value is not shown', (name, value, code) => {
  const found = problems({ url: URL_OK, headers: { [name]: value } })
  expect(found.map((problem) => problem.code)).toEqual([code])
  expect(found.map(formatProblem).join('\n')).not.toContain('4711')
})

test.each([
  [{}, 'key_missing'],
  ['wss://build.example.com/', 'type_mismatch'],
  [{ url: URL_OK, token: 'x' }, 'key_unknown'],
  [{ url: [URL_OK] }, 'type_mismatch'],
  [{ url: URL_OK, headers: { 'a b': 'c' } }, 'value_malformed'],
  [{ url: URL_OK, headers: { 'a:\r\nb': 'c' } }, 'value_malformed'],
  [{ url: URL_OK, headers: { a: 1 } }, 'type_mismatch'],
  [{ url: URL_OK, headers: { 'X-A': 'b', 'x-a': 'c' } }, 'endpoint_invalid'],
  [
    { url: URL_OK, headers: Object.fromEntries(Array.from({ length: 17 }, (_, n) => [`x-${n}`, 'a'])) },
    'value_too_long',
  ],
])('the endpoint %j is refused', (endpoint, code) => {
  expect(parsed(endpoint).ok).toBe(false)
  expect(problems(endpoint).map((problem) => problem.code)).toContain(code)
})

test('a long value of a header is read in no time', () => {
  const value = `${'{secret:'.repeat(20)}${'a-'.repeat(900)}`
  const began = performance.now()
  expect(parsed({ url: URL_OK, headers: { x: value } }).ok).toBe(false)
  expect(performance.now() - began).toBeLessThan(1_000)
})

test('what has no effect on an agent that runs elsewhere is a warning', () => {
  const options = [{ id: 'fast', type: 'boolean', bin_args_append_when_true: ['--fast'] }]
  expect(problems({ url: URL_OK }, { bin_args: ['acp'], options })).toMatchObject([
    { code: 'block_ignored', severity: 'warning' },
    { code: 'block_ignored', severity: 'warning' },
  ])
  const mcp = { protocol: 'mcp', acp: undefined, mcp: { transport: 'stdio' } }
  expect(problems({ url: URL_OK }, mcp)).toMatchObject([{ code: 'block_ignored', severity: 'warning' }])
})

async function readWith(transport: unknown, text: string) {
  const acp = md({ ...(DOCUMENTS.acp as object), transport })
  const root = await tempFolder({ 'build/AGENT-CLI.md': text, 'build/ACP.md': acp })
  const result = await readAgentCli(join(root, 'build'))
  return result.ok
    ? (remoteAddress(result.manifest) ?? 'launched')
    : result.problems.map(({ code }) => code).filter((code) => code !== 'reference_missing')
}

test('AIP-44 transport: stdio counts, unless the manifest has an endpoint and the ACP.md lists websocket', async () => {
  const local = md(BASE)
  const remote = withEndpoint({ url: URL_OK })
  expect(await readWith('websocket', remote)).toBe(URL_OK)
  expect(await readWith(['stdio', 'websocket'], remote)).toBe(URL_OK)
  expect(await readWith(['stdio', 'websocket'], local)).toBe('launched')
  expect(await readWith('stdio', local)).toBe('launched')
  expect(await readWith('stdio', remote)).toEqual(['endpoint_undeclared'])
  expect(await readWith('websocket', local)).toEqual(['endpoint_missing'])
})
