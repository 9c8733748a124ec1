import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startDaemon, type Daemon } from './support/daemon.js'
import { temporaryFolder } from './support/temporary-folder.js'

const FIXTURE = fileURLToPath(new URL('./fixtures/tell-at-exit.cjs', import.meta.url))

interface Told {
  /** Size of the young generation, in bytes. */
  readonly young: number
  /** Node's own modules that were loaded. */
  readonly modules: readonly string[]
  /** Whether V8 optimises what runs often. */
  readonly optimises: boolean
}

/** What a gateway tells as it ends, after something was done with it. */
async function afterwards(use: (daemon: Daemon, home: string) => Promise<void>): Promise<Told> {
  const home = temporaryFolder('light')
  const told = join(home, 'told')
  const daemon = await startDaemon({ home, env: { NODE_OPTIONS: `--require=${FIXTURE}`, TOLD_AT_EXIT: told } })
  await use(daemon, home)
  process.kill(daemon.pid, 'SIGTERM')
  await expect.poll(() => textOf(told), { timeout: 30_000 }).toContain('modules')
  return JSON.parse(textOf(told)) as Told
}

async function flood({ client }: Daemon, cwd: string, events: number): Promise<void> {
  const { id } = await client.sessions.start({ adapter: 'demo', cwd })
  await client.sessions.promptAndWait(id, { prompt: `flood ${events}` })
  expect(await client.sessions.output(id, 10)).not.toEqual([])
  expect((await client.sessions.list()).sessions).toHaveLength(1)
  await client.sessions.kill(id)
}

test('a gateway that serves sessions loads neither fetch nor its parser: they are a sixth of its memory', async () => {
  const { modules, optimises } = await afterwards((daemon, home) => flood(daemon, home, 100))
  // Left out of the start only.
  expect(optimises).toBe(true)
  expect(modules).toContain('NativeModule http')
  expect(modules.filter((name) => name.includes('undici'))).toEqual([])
})

test('the young generation of a gateway stays as it began, and grows when events flow', async () => {
  const { young } = await afterwards((daemon, home) => flood(daemon, home, 100))
  const { young: grown } = await afterwards((daemon, home) => flood(daemon, home, 60_000))
  expect(grown).toBeGreaterThan(young)
})

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
