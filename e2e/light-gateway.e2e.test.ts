import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { createClient } from '@agentproto/client'
import { expect, test } from 'vitest'
import { startDaemon } from './support/daemon.js'
import { temporaryFolder } from './support/temporary-folder.js'

const FIXTURE = fileURLToPath(new URL('./fixtures/loaded-modules.cjs', import.meta.url))

test('a gateway that serves sessions loads neither fetch nor its parser: they are a sixth of its memory', async () => {
  const home = temporaryFolder('light')
  const told = join(home, 'loaded')
  const { url, token, pid } = await startDaemon({
    home,
    env: { NODE_OPTIONS: `--require=${FIXTURE}`, LOADED_MODULES: told },
  })
  const client = createClient({ url, token })
  const { id } = await client.sessions.start({ adapter: 'demo', cwd: home })
  await client.sessions.promptAndWait(id, { prompt: 'flood 100' })
  expect(await client.sessions.output(id, 10)).not.toEqual([])
  expect((await client.sessions.list()).sessions).toHaveLength(1)
  await client.sessions.kill(id)
  process.kill(pid, 'SIGTERM')
  await expect.poll(() => textOf(told), { timeout: 30_000 }).toContain('NativeModule http')
  expect(textOf(told)).not.toContain('undici')
})

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
