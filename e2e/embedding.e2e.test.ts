import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { finished } from './support/finished-process.js'
import { newMark } from './support/marked-processes.js'
import { temporaryFolder } from './support/temporary-folder.js'

const PROGRAM = fileURLToPath(new URL('./fixtures/embedded.mjs', import.meta.url))

test('a program with two gateways exits when they are closed: no handle and no process is left', async () => {
  const mark = newMark()
  const home = temporaryFolder('embedded')
  const env = { ...process.env, ...mark.env, HOME: home, AGENTPROTO_HOME: home }
  const { code, stdout, stderr } = await finished([PROGRAM], { cwd: home, env })
  expect([code, stderr]).toEqual([0, ''])
  expect(JSON.parse(stdout)).toEqual({ opened: [200, 200], ended: [true, true], left: [] })
  expect(mark.living()).toEqual([])
})
