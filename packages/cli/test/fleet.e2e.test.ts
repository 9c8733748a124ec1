import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findProgram } from '../../../tooling/programs.mjs'
import { needs } from '../../../tooling/needs.ts'
import { startFleetWith } from './cli-fleet.js'
import { BIN, cli, folder, serve } from './cli-process.js'

const page = readFileSync(new URL('../../../docs/fleet.md', import.meta.url), 'utf8')
const script = /```sh\n(#!\/bin\/sh\n[\s\S]*?)```/.exec(page)?.[1] ?? ''

interface Script {
  readonly root: string
  readonly running: ReturnType<typeof spawn>
  /** Resolves with its exit code and what it printed. */
  readonly ended: Promise<{ readonly code: number | null; readonly printed: string }>
}

/** The script of the page, in a folder that is not there yet. @param path Where it finds programs, beside `agentproto` */
async function runScript(
  root: string,
  path = `${dirname(findProgram('nats-server') ?? '')}:${process.env['PATH'] ?? ''}`,
) {
  const file = join(root, 'fleet.sh')
  writeFileSync(file, script)
  symlinkSync(BIN, join(root, 'agentproto'))
  const env = { ...process.env, FOLDER: join(root, 'fleet'), PORT: String(await freePort()), NO_COLOR: '1' }
  const running = spawn('/bin/sh', [file], {
    env: { ...env, AGENTPROTO_HOME: root, PATH: `${root}:${path}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void running.kill('SIGTERM'))
  let printed = ''
  for (const stream of [running.stdout, running.stderr])
    stream.setEncoding('utf8').on('data', (text) => (printed += text))
  const ended = once(running, 'close').then(([code]) => ({ code: code as number | null, printed }))
  return { root, running, ended } satisfies Script
}

test('17.9 the script of docs/fleet.md starts a fleet of three, and ends all of it', needs('nats-server'), async () => {
  const { root, running, ended } = await runScript(folder('fleet'))
  const at = (host: string, ...args: string[]) => cli(args, { home: join(root, 'fleet', host) })
  const names = async (): Promise<unknown> => {
    const { code, stdout } = await at('one', 'hosts', '--json')
    if (code !== 0) return []
    const { hosts } = JSON.parse(stdout) as { hosts: { name: string; reachable: boolean }[] }
    return hosts.filter(({ reachable }) => reachable).map(({ name }) => name)
  }
  await expect.poll(names, { timeout: 60_000, interval: 500 }).toEqual(['one', 'three', 'two'])
  const started = await at('one', 'sessions', 'start', 'demo', '--on', 'three', '--json')
  expect(JSON.parse(started.stdout)).toMatchObject({ hostId: 'three' })
  const { id } = JSON.parse(started.stdout) as { id: string }
  expect(await at('two', 'sessions', 'prompt', id, 'hello', '--wait')).toMatchObject({ code: 0 })
  // No config.json names the fleet: the gateway itself is asked.
  const { checks } = JSON.parse((await at('one', 'doctor', '--json')).stdout) as {
    checks: { id: string; detail: string }[]
  }
  expect(checks.find((check) => check.id === 'cluster')).toMatchObject({
    verdict: 'ok',
    detail: expect.stringMatching(/^one at nats-server \S+, 3 servers, 3 replicas; 3 hosts; lag \d+$/) as string,
  })
  running.kill('SIGTERM')
  await ended
})

test('17.9 the script says that nats-server is missing, and how to get it', async () => {
  const { root, ended } = await runScript(folder('fleet'), '/nonexistent')
  expect(await ended).toMatchObject({
    code: 1,
    printed: expect.stringContaining('apt-get install nats-server') as string,
  })
  expect(existsSync(join(root, 'fleet'))).toBe(false)
})

test(
  '17.9 the script ends when one of its homes has a gateway already, and says so',
  needs('nats-server'),
  async () => {
    const root = folder('fleet')
    const home = join(root, 'fleet', 'two')
    mkdirSync(home, { recursive: true })
    await serve(home)
    const { ended } = await runScript(root)
    expect(await ended).toMatchObject({
      code: 1,
      printed: expect.stringContaining('This home already has a gateway') as string,
    })
  },
)

test('17.9 a command waits for a gateway that joins its fleet, and starts no other', needs('nats-server'), async () => {
  const { join: joinFleet } = await startFleetWith(10_000, 'one')
  const two = await joinFleet('two')
  await two.kill()
  // Nothing proves that the killed one has ended: the next one waits before it listens.
  rmSync(join(two.home, 'fleet-runs.json'))
  const starting = joinFleet('two')
  await expect.poll(() => existsSync(join(two.home, 'fleet-runs.json')), { timeout: 20_000, interval: 20 }).toBe(true)
  const { code, stdout } = await cli(['hosts', '--json'], { home: two.home, env: { AGENTPROTO_NO_START: '' } })
  expect(code).toBe(0)
  expect((JSON.parse(stdout) as { hosts: { name: string }[] }).hosts.map(({ name }) => name)).toContain('two')
  await starting
})

/** One below a range that is free as far as can be known. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await once(server.close(), 'close')
  return typeof address === 'object' && address !== null ? Math.min(address.port, 65_000) : 4_222
}
