import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, folder, serve, start } from './cli-process.js'

/** A gateway and a session of the demo agent, without a terminal. */
async function session(): Promise<string> {
  const home = folder()
  await serve(home)
  await cli(['sessions', 'start', 'demo', '--label', 'try', '--cwd', home], { home })
  return home
}

test('14.1.3 prompt --wait without a terminal answers nothing for the owner: it says what waits, and goes on when it is answered', async () => {
  const home = await session()
  const waiting = start(['sessions', 'prompt', 'try', 'ask made.txt hello', '--wait'], { home })
  await expect
    .poll(async () => (await cli(['sessions', 'show', 'try'], { home })).stdout, { timeout: 30_000 })
    .toMatch(/Waits for an answer[\s\S]*Path +\S*made\.txt/)
  expect(await cli(['sessions', 'answer', 'try', '--allow'], { home })).toMatchObject({ code: 0 })
  const { code, stderr } = await waiting.ended
  expect(code).toBe(0)
  expect(stderr).toMatch(/the agent waits for an answer: Write made\.txt\. See: agentproto sessions show s_/)
  expect(existsSync(join(home, 'made.txt'))).toBe(true)
})

test('14.1.3 --deny-requests denies at once, and the hint of the failure names a command that works', async () => {
  const home = await session()
  const denied = await cli(['sessions', 'prompt', 'try', 'ask made.txt hello', '--wait', '--deny-requests'], { home })
  expect(denied.code).toBe(5)
  const [, ...words] = /agentproto (sessions config \S+ --permissions [a-z-]+)/.exec(denied.stderr) ?? []
  expect(await cli((words[0] ?? '').split(' '), { home })).toMatchObject({ code: 0 })
})
