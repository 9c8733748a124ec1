import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fixtureAgentPath } from '@agentproto/arm-testing'
import type { Principal } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

// Each protocol through the whole gateway; what each arm does alone is tested in its package.

const owner: Principal = { type: 'owner', name: 'owner' }

/** A folder with one adapter in it. */
async function adapterFolder(home: string, slug: string, more: object): Promise<string> {
  const folder = join(home, 'more-adapters')
  const manifest = {
    name: slug,
    id: slug,
    description: 'An agent of this test.',
    version: '1.0.0',
    bin: slug,
    install: [{ method: 'npm', package: slug }],
    version_check: { cmd: `${slug} --version`, parse: '(\\d+\\.\\d+\\.\\d+)', range: '*' },
    sandbox: { provider: 'local' },
    ...more,
  }
  await mkdir(join(folder, slug), { recursive: true })
  await writeFile(join(folder, slug, 'AGENT-CLI.md'), `---\n${JSON.stringify(manifest)}\n---\n`)
  return folder
}

test('an agent that is an MCP server: its session has the id that its first answer names', async () => {
  const home = await temporaryHome()
  const said = { event: 'text-delta', text: 'event.text' }
  const adapters = await adapterFolder(home, 'served', {
    bin_args: ['mcp'],
    protocol: 'mcp',
    mcp: { transport: 'stdio' },
    metadata: {
      agentproto: { mcp: { events: [{ method: 'fixture/event', kind: 'event.said', map: { say: said } }] } },
    },
  })
  const { sessions } = await testGateway({ home, adapters: [adapters], executables: { served: fixtureAgentPath } })
  const { id, ...started } = await sessions.spawn({ adapter: 'served', cwd: home }, owner)
  expect(started.agentSessionId).toBeUndefined()
  const first = await sessions.waitTurn(id, (await sessions.prompt(id, { prompt: 'echo one' }, owner)).turn)
  expect(first).toMatchObject({ reason: 'end_turn', text: 'echo one' })
  expect(await sessions.get(id)).toMatchObject({ agentSessionId: 'thread-1', agent: { name: 'fixture' } })
  const second = await sessions.waitTurn(id, (await sessions.prompt(id, { prompt: 'remember' }, owner)).turn)
  expect(second.text).toBe('echo one|remember')
})

test('a prompt in a terminal, through the adapter package that ships', async () => {
  const home = await temporaryHome()
  const adapters = await adapterFolder(home, 'node-prompt', {
    bin_args: ['--interactive'],
    protocol: 'proprietary',
    adapter: '@agentproto/adapter-pty-repl',
    metadata: { agentproto: { adapter: { prompt: '>' } } },
  })
  const { sessions } = await testGateway({
    home,
    adapters: [adapters],
    executables: { 'node-prompt': process.execPath },
  })
  const { id } = await sessions.spawn({ adapter: 'node-prompt', cwd: home }, owner)
  const { text } = await sessions.waitTurn(id, (await sessions.prompt(id, { prompt: '6 * 7' }, owner)).turn)
  expect(text).toBe('42')
  expect(await sessions.kill(id, owner)).toEqual({ ok: true })
})

test('an adapter package that the host does not name is refused, and nothing is left of the session’s start', async () => {
  const home = await temporaryHome()
  const adapters = await adapterFolder(home, 'foreign', { protocol: 'proprietary', adapter: 'left-pad' })
  const { sessions } = await testGateway({ home, adapters: [adapters], executables: { foreign: process.execPath } })
  await expect(sessions.spawn({ adapter: 'foreign', cwd: home }, owner)).rejects.toMatchObject({
    code: 'protocol_unsupported',
    message: expect.stringContaining('left-pad is not one that this host allows'),
  })
})
