import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { lookAtKeeper } from '@agentproto/keeper'
import { createGateway } from '@agentproto/runtime'
import { findMarkedProcesses } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { imaginedKeeper } from '../../keeper/test/imagined-keeper.ts'

test("16.5 a gateway that does not speak the wire of the home's keeper does not start: it would end the agents", async () => {
  const home = mkdtempSync(join(tmpdir(), 'unspoken-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  await imaginedKeeper(join(home, 'keeper'), { wires: [3], answers: {} })
  await expect(createGateway({ home, cwd: home, keeper: true })).rejects.toMatchObject({
    code: 'keeper_unavailable',
    message: expect.stringContaining('The keeper holds agents and speaks another version of its wire') as string,
    parts: { given: [3], expected: 'one of 1, 2' },
  })
})

test('16.2 a keeper that cannot start: the gateway starts without it, with one warning that says why', async () => {
  const home = mkdtempSync(join(tmpdir(), 'no-keeper-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const problems: string[] = []
  planted(join(home, 'keeper'))
  const gateway = await createGateway({ home, cwd: home, keeper: true, onProblem: (problem) => problems.push(problem) })
  await gateway.close()
  expect(problems).toEqual([
    'Agents end with this gateway. The keeper cannot be used: it does not start (failed: no number is left: remove 999999999.sock).',
  ])
})

test.each([
  [undefined, true],
  [{ keeper: { orphanMs: 60_000 } }, true],
  [{ keeper: { enabled: false } }, false],
  [{ keeper: false }, false],
])('16.2 a host that keeps by default, with a config.json of %j: %s', async (config, isKept) => {
  const home = mkdtempSync(join(tmpdir(), 'by-default-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  if (config !== undefined) writeFileSync(join(home, 'config.json'), JSON.stringify(config))
  const gateway = await createGateway({ home, cwd: home, defaults: { keeper: true } })
  onTestFinished(() => gateway.close())
  expect(gateway.keeper !== undefined).toBe(isKept)
  expect(existsSync(join(home, 'keeper'))).toBe(isKept)
})

test('16.2 an embedding host keeps when it asks for it, whatever config.json leaves open', async () => {
  const home = mkdtempSync(join(tmpdir(), 'opt-in-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const without = await createGateway({ home, cwd: home })
  expect(without.keeper).toBeUndefined()
  await without.close()
  writeFileSync(join(home, 'config.json'), JSON.stringify({ keeper: { orphanMs: 60_000 } }))
  const gateway = await createGateway({ home, cwd: home, keeper: true })
  onTestFinished(() => gateway.close())
  expect(gateway.keeper).toMatchObject({ wire: 2 })
})

test('16.2 a gateway without a keeper ends what one with a keeper has left', async () => {
  const home = mkdtempSync(join(tmpdir(), 'turned-off-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const options = { home, cwd: home, env: { ...process.env, AGENTPROTO_DEMO_HOME: join(home, 'demo') } }
  const first = await createGateway({ ...options, keeper: true })
  const owner = { type: 'owner', name: 'owner' } as const
  const { id } = await first.sessions.spawn({ adapter: 'demo', prompt: 'hang' }, owner)
  await first.close({ keepAgents: true })
  expect(findMarkedProcesses(id)).toHaveLength(1)
  const second = await createGateway({ ...options, keeper: false })
  onTestFinished(() => second.close())
  expect(findMarkedProcesses(id)).toEqual([])
  expect(await second.sessions.get(id)).toMatchObject({ status: 'error', stopReason: 'agent_crashed' })
  await expect.poll(() => lookAtKeeper(join(home, 'keeper'))).toBeUndefined()
})

function planted(folder: string): void {
  mkdirSync(folder, { mode: 0o700 })
  writeFileSync(join(folder, '999999999.sock'), '')
}
