import { mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentRequest, PermissionRequest, RequestFacts, SessionRequest, ToolCall } from '@agentproto/contracts'
import { expect, onTestFinished, test } from 'vitest'
import { requestFacts } from '../src/permissions/request-facts.js'
import { scripted } from './fixtures/scripted-agent.js'
import { allEvents, memoryRegistry, owner } from './fixtures/test-registry.js'

const request = (call: Partial<ToolCall>): PermissionRequest => ({
  kind: 'permission',
  toolCall: { type: 'tool-call', toolCallId: 't', title: 'Harmless', ...call },
  options: [
    { optionId: 'once', name: 'Once', kind: 'allow_once' },
    { optionId: 'no', name: 'No', kind: 'reject_once' },
  ],
})

/** A project folder with a link that leads out of it. */
async function project(): Promise<{ readonly folder: string; readonly secret: string }> {
  const base = await realpath(await mkdtemp(join(tmpdir(), 'facts-')))
  onTestFinished(() => rm(base, { recursive: true }))
  const [folder, secret] = [join(base, 'project'), join(base, 'secret')]
  await mkdir(folder)
  await mkdir(secret)
  await symlink(secret, join(folder, 'link'))
  return { folder, secret }
}

test('14.1.2 a path of a request is resolved by the gateway: links are followed, and outside is outside', async () => {
  const { folder, secret } = await project()
  const facts = await requestFacts(request({ kind: 'edit', input: { path: 'link/key', text: 'x' } }), [folder])
  expect(facts).toMatchObject({
    toolKind: 'edit',
    statedKind: 'edit',
    paths: [{ named: 'link/key', real: [join(secret, 'key')], inside: false }],
  })
  const inside = await requestFacts(request({ kind: 'read', locations: [{ path: join(folder, 'new') }] }), [folder])
  expect(inside.paths).toEqual([{ named: join(folder, 'new'), real: [join(folder, 'new')], inside: true }])
  const further = await requestFacts(request({ kind: 'read', input: { path: join(secret, 'key') } }), [folder, secret])
  expect(further.paths).toMatchObject([{ inside: true }])
})

test('14.1.2 a path that cannot be resolved is not inside', async () => {
  const { folder } = await project()
  const facts = await requestFacts(request({ kind: 'read', input: { path: '~/x' } }), [folder])
  expect(facts).toMatchObject({ paths: [{ named: '~/x', real: [], inside: false }], unclear: true })
})

test('14.1.2 commands are whole, whatever the title and the kind say; a folder that they run in is resolved', async () => {
  const { folder, secret } = await project()
  const command = `echo ${'x'.repeat(10_000)}; rm -rf ~`
  const facts = await requestFacts(request({ kind: 'read', input: { command, cwd: 'link' } }), [folder])
  expect(facts).toMatchObject({
    toolKind: 'execute',
    statedKind: 'read',
    commands: [command],
    folders: [{ named: 'link', real: [secret], inside: false }],
  })
})

test.each<[string, unknown]>([
  ['pairs of name and value', [{ name: 'LD_PRELOAD', value: '/tmp/x.so' }]],
  ['names with their values', { LD_PRELOAD: '/tmp/x.so' }],
])(
  '16.1 the variables of a command are shown, given as %s, and no rule is made of the command alone',
  async (_form, env) => {
    const { folder } = await project()
    const facts = await requestFacts(request({ kind: 'execute', input: { command: 'git push', env } }), [folder])
    expect(facts).toMatchObject({
      commands: ['git push'],
      environment: [{ name: 'LD_PRELOAD', value: '/tmp/x.so' }],
      unclear: true,
    })
    expect(facts.denyRule).not.toHaveProperty('command')
  },
)

test('16.1 a command without variables has none in its facts; variables in an unknown form are not guessed', async () => {
  const { folder } = await project()
  const factsOf = (env: unknown) =>
    requestFacts(request({ kind: 'execute', input: { command: 'make', env } }), [folder])
  for (const env of [{}, [], undefined]) expect(await factsOf(env)).not.toHaveProperty('environment')
  for (const env of ['A=b', ['A=b'], [{ name: 'A' }], { A: { B: 'c' } }, [{ name: 'A', value: 1 }]]) {
    const facts = await factsOf(env)
    expect(facts).toMatchObject({ unclear: true })
    expect(facts).not.toHaveProperty('environment')
  }
})

test('14.1.2 the addresses of a fetch, and a pattern that leads out of the folders', async () => {
  const { folder, secret } = await project()
  const fetches = await requestFacts(request({ kind: 'fetch', input: { url: 'https://a.example/x' } }), [folder])
  expect(fetches.urls).toEqual(['https://a.example/x'])
  const search = await requestFacts(request({ kind: 'search', input: { pattern: 'link/*.key' } }), [folder])
  expect(search.paths).toMatchObject([{ real: [secret], inside: false }])
  expect((await requestFacts(request({ kind: 'search', input: { pattern: '*.ts' } }), [folder])).paths).toEqual([])
})

test('14.1.1 the rules that an answer would make are those that it makes; none of a call with only a title', async () => {
  const { folder } = await project()
  const facts = await requestFacts(request({ kind: 'execute', input: { command: 'git push' } }), [folder])
  expect(facts.allowRule?.call).toMatch(/^[0-9a-f]{64}$/)
  expect(facts.denyRule).toEqual({ toolKind: 'execute', command: 'git push' })
  const bare = await requestFacts(request({ kind: 'other' }), [folder])
  expect(bare).not.toHaveProperty('allowRule')
  expect(bare).not.toHaveProperty('denyRule')
})

async function asked(
  request_: AgentRequest,
): Promise<{ readonly pending: SessionRequest; readonly logged?: RequestFacts }> {
  const { registry } = await memoryRegistry(scripted(async ({ ask }) => void (await ask(request_))))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await expect.poll(async () => (await registry.requests(id)).length, { timeout: 10_000 }).toBe(1)
  const [pending] = await registry.requests(id)
  if (pending === undefined) throw new Error('nothing is pending')
  const prompt = (await allEvents(registry, id)).find(({ type }) => type === 'agent-prompt')
  return { pending, ...(prompt?.type === 'agent-prompt' && prompt.facts !== undefined ? { logged: prompt.facts } : {}) }
}

test('14.1.2 a request and its event have the facts; one that was too large says that it was cut', async () => {
  const { pending, logged } = await asked(request({ kind: 'execute', input: { command: 'rm -rf /' } }))
  expect(pending.facts).toMatchObject({ toolKind: 'execute', commands: ['rm -rf /'] })
  expect(logged).toEqual(pending.facts)
  expect(pending).not.toHaveProperty('cut')
  const large = await asked(request({ input: { data: 'x'.repeat(9_000_000) } }))
  expect(large.pending.cut?.originalChars).toBeGreaterThan(9_000_000)
})
