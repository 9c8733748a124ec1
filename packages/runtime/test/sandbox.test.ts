import { existsSync } from 'node:fs'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal } from '@agentproto/contracts'
import { catalogPath } from '@agentproto/adapters'
import type { Gateway, GatewayOptions } from '@agentproto/runtime'
import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'
import { findProgram } from '../../../tooling/programs.mjs'

const owner: Principal = { type: 'owner', name: 'owner' }
// Not only there: containers and hardened kernels often refuse what it needs.
const hasBubblewrap = findProgram('bwrap') !== undefined

/** A gateway whose demo agent has such a sandbox, and a folder to work in. */
async function gatewayWith(sandbox: string, more: GatewayOptions = {}): Promise<{ gateway: Gateway; cwd: string }> {
  const home = await temporaryHome()
  const folder = join(home, 'adapters/demo')
  await cp(join(catalogPath, 'demo'), folder, { recursive: true })
  const file = join(folder, 'SANDBOX.md')
  const text = await readFile(file, 'utf8')
  await writeFile(file, text.replace(/^metadata:\n(?: .*\n)+/m, '').replace(/^provider: local\n/m, sandbox))
  const cwd = join(home, 'work')
  await mkdir(cwd)
  return { gateway: await testGateway({ home, homes: 'isolated', ...more }), cwd }
}

const MOUNTED = 'provider: local\nmounts: [{ source: workspace, at: /workspace, mode: read-write }]\n'

test('F82 a confined agent works in its workspace, fails outside it, and its session says what holds', async () => {
  const { gateway, cwd } = await gatewayWith(MOUNTED)
  const { sessions } = gateway
  const { id } = await sessions.spawn({ adapter: 'demo', cwd, permissionMode: 'approve-all' }, owner)
  const { sandbox, warnings } = await sessions.get(id)
  expect([sandbox?.provider, sandbox?.enforced]).toEqual(['local', hasBubblewrap])
  expect(warnings.filter((warning) => warning.startsWith('Not confined'))).toHaveLength(hasBubblewrap ? 0 : 1)
  const escape = hasBubblewrap ? '/etc/agentproto-escape' : join(cwd, 'no-sandbox-here')
  const prompt = `run touch inside ${escape} || true`
  await sessions.waitTurn(id, (await sessions.prompt(id, { prompt }, owner)).turn)
  expect([existsSync(join(cwd, 'inside')), existsSync('/etc/agentproto-escape')]).toEqual([true, false])
  await sessions.kill(id, owner)
})

test('the bundled demo agent asks for no confinement, and its session says so', async () => {
  const home = await temporaryHome()
  const { sessions } = await testGateway({ home, sandbox: 'refuse' })
  const { id } = await sessions.spawn({ adapter: 'demo', cwd: home }, owner)
  const reason = 'the manifest asks for no confinement'
  expect((await sessions.get(id)).sandbox).toEqual({ provider: 'local', enforced: false, reason })
})

test('F82 with `refuse`, an agent that cannot be confined as it asks is not started', async () => {
  const { gateway, cwd } = await gatewayWith('provider: node-permission\n', { sandbox: 'refuse' })
  const reason = expect.stringContaining('Node has no exceptions within an allowed folder')
  const starting = gateway.sessions.spawn({ adapter: 'demo', cwd }, owner)
  await expect(starting).rejects.toMatchObject({ code: 'sandbox_unavailable', message: reason })
})

test('a provider that the host registers is known to manifests; any other keeps its adapter out', async () => {
  const sandboxProviders: NonNullable<GatewayOptions['sandboxProviders']> = {
    moon: { prepare: async (_profile, { launch }) => ({ launch, enforced: true, warnings: [] }) },
  }
  const { gateway, cwd } = await gatewayWith('provider: moon\n', { sandboxProviders })
  const { id } = await gateway.sessions.spawn({ adapter: 'demo', cwd }, owner)
  expect((await gateway.sessions.get(id)).sandbox).toEqual({ provider: 'moon', enforced: true })
  const problems: string[] = []
  const other = await gatewayWith('provider: moon\n', {
    bundledAdapters: false,
    onProblem: (problem) => problems.push(problem),
  })
  expect(await other.gateway.adapters.list()).toEqual([])
  expect(problems.join()).toContain('moon')
})

test('agents get the address of the gateway once it listens, and the path of its command line', async () => {
  const home = await temporaryHome()
  const gateway = await testGateway({ home, bin: '/opt/own/agentproto' })
  const { url } = await gateway.listen({ port: 0 })
  const { id } = await gateway.sessions.spawn({ adapter: 'demo', cwd: home, permissionMode: 'approve-all' }, owner)
  const prompt = 'run echo $AGENTPROTO_URL $AGENTPROTO_BIN $AGENTPROTO_SESSION_ID > variables'
  await gateway.sessions.waitTurn(id, (await gateway.sessions.prompt(id, { prompt }, owner)).turn)
  expect(await readFile(join(home, 'variables'), 'utf8')).toBe(`${url} /opt/own/agentproto ${id}\n`)
})
