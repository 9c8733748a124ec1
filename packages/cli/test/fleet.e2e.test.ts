import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { findProgram } from '../../../tooling/programs.mjs'
import { needs } from '../../../tooling/needs.ts'
import { BIN, cli, folder } from './cli-process.js'

const page = readFileSync(new URL('../../../docs/fleet.md', import.meta.url), 'utf8')
const script = /```sh\n(#!\/bin\/sh\n[\s\S]*?)```/.exec(page)?.[1] ?? ''

test('17.9 the script of docs/fleet.md starts a fleet of three, and ends all of it', needs('nats-server'), async () => {
  const root = folder('fleet')
  const file = join(root, 'fleet.sh')
  writeFileSync(file, script)
  symlinkSync(BIN, join(root, 'agentproto'))
  const nats = dirname(findProgram('nats-server') ?? '')
  const env = { ...process.env, FOLDER: root, PORT: String(await freePort()), NO_COLOR: '1' }
  const running = spawn('sh', [file], {
    env: { ...env, AGENTPROTO_HOME: root, PATH: `${root}:${nats}:${process.env['PATH'] ?? ''}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  onTestFinished(() => void running.kill('SIGKILL'))
  const at = (host: string, ...args: string[]) => cli(args, { home: join(root, host) })
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
  const ended = once(running, 'exit')
  running.kill('SIGTERM')
  await ended
})

/** One below a range that is free as far as can be known. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await once(server.close(), 'close')
  return typeof address === 'object' && address !== null ? Math.min(address.port, 65_000) : 4_222
}
