import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGateway } from '@agentproto/runtime'
import { expect, onTestFinished, test } from 'vitest'
import { imaginedKeeper } from '../../keeper/test/imagined-keeper.ts'

test("16.5 a gateway that does not speak the wire of the home's keeper does not start: it would end the agents", async () => {
  const home = mkdtempSync(join(tmpdir(), 'unspoken-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  await imaginedKeeper(join(home, 'keeper'), { wires: [2], answers: {} })
  await expect(createGateway({ home, cwd: home, keeper: true })).rejects.toMatchObject({
    code: 'keeper_unavailable',
    message: expect.stringContaining('The keeper holds agents and speaks another version of its wire') as string,
    parts: { given: [2], expected: 'one of 1' },
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

function planted(folder: string): void {
  mkdirSync(folder, { mode: 0o700 })
  writeFileSync(join(folder, '999999999.sock'), '')
}
