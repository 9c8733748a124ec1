import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'
import { expect, onTestFinished, test } from 'vitest'
import { tar } from '../packages/provisioning/test/archives.js'
import { needs } from '../tooling/needs.ts'
import { entryOf } from './support/agent-registry.js'
import type { Answer } from './support/loopback-server.js'
import { archiveOf, binaryFor, FAILING_AGENT, publishNpm } from './support/packed-agents.js'
import { createRegistryUser, type RegistryUser } from './support/registry-user.js'

// `adapters add` that is killed with SIGKILL, and what comes after it.

const CLI = fileURLToPath(new URL('../packages/cli/bin/agentproto.mjs', import.meta.url))
const WAIT = { timeout: 60_000, interval: 20 }

function startAdding(user: RegistryUser, ...flags: readonly string[]): ChildProcess {
  const args = [CLI, 'adapters', 'add', 'acp:sample', '--json', ...flags]
  const child = spawn(process.execPath, args, { cwd: user.cwd, env: user.env, stdio: 'ignore' })
  onTestFinished(() => void child.kill('SIGKILL'))
  return child
}

/** Sends the beginning of a file. */
const unfinished: Answer = (response) => {
  response.writeHead(200, { 'content-length': '100000' })
  response.write('x'.repeat(1_000))
}

const below = (folder: string): readonly string[] =>
  existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String) : []

/** A user who adds an agent, and whether that is at the moment at which it is killed. */
interface Moment {
  readonly user: RegistryUser
  readonly isThere: () => boolean
}

const MOMENTS: Readonly<Record<string, () => Promise<Moment>>> = {
  async download() {
    const user = await createRegistryUser()
    user.registry.list(
      entryOf('sample', binaryFor({ archive: user.registry.put('/sample.tar.gz', unfinished), cmd: './bin/agent' })),
    )
    return { user, isThere: () => below(join(user.home, 'agents')).some((path) => path.endsWith('/download')) }
  },
  async unpack() {
    const user = await createRegistryUser()
    const large = '\0'.repeat(400 * 1024 ** 2)
    const archive = gzipSync(await tar([{ name: 'bin/agent', mode: 0o755 }, large]), { level: 1 })
    user.registry.list(
      entryOf('sample', binaryFor({ archive: user.registry.put('/sample.tar.gz', archive), cmd: './bin/agent' })),
    )
    return {
      user,
      isThere: () => below(join(user.home, 'agents')).some((path) => path.endsWith('/unpacked/bin/agent')),
    }
  },
  async npm() {
    const user = await createRegistryUser(entryOf('sample', { npx: { package: 'sample-agent@1.2.3' } }))
    await publishNpm(user.registry, { name: 'sample-agent', versions: ['1.2.3'] })
    const tarball = '/npm/sample-agent/-/sample-agent-1.2.3.tgz'
    user.registry.put(tarball, unfinished)
    return { user, isThere: () => user.registry.asked.includes(tarball) }
  },
  async handshake() {
    // Its agent has a process of its own, and both ignore SIGTERM and the end of their stdin.
    const args = ['acp', 'orphan']
    const user = await createRegistryUser(entryOf('sample', { npx: { package: 'sample-agent@1.2.3', args } }))
    await publishNpm(user.registry, { name: 'sample-agent', versions: ['1.2.3'], agent: FAILING_AGENT })
    return { user, isThere: () => user.processes().filter(isAgent).length >= 2 }
  },
}

function momentOf(name: string): Promise<Moment> {
  const make = MOMENTS[name]
  if (make === undefined) throw new Error(`There is no moment ${name}`)
  return make()
}

const isAgent = (command: string): boolean => /orphan|FOREIGN|setInterval/.test(command)

async function killedAt(moment: string): Promise<RegistryUser> {
  const { user, isThere } = await momentOf(moment)
  const adding = startAdding(user, '--allow-unverified')
  await expect.poll(isThere, WAIT).toBe(true)
  adding.kill('SIGKILL')
  await once(adding, 'exit')
  expect(leftOf(user)).not.toEqual([])
  return user
}

/** But for the gateway and what holds its pipes. */
const leftOf = (user: RegistryUser): readonly string[] =>
  [...user.left(), ...user.ownFiles()].filter(
    (each) => !/^process .*\/packages\/(?:cli|keeper)\//.test(each) || isAgent(each),
  )

test.each(Object.keys(MOMENTS))(
  '18 what an adding that was killed at its %s left is removed by the next command that writes',
  needs('linux'),
  async (moment) => {
    const user = await killedAt(moment)
    await user.run('adapters', 'remove', 'nothing')
    expect(leftOf(user)).toEqual([])
  },
)

test.each(Object.keys(MOMENTS))(
  '18 what an adding that was killed at its %s left is removed by the next gateway',
  needs('linux'),
  async (moment) => {
    const user = await killedAt(moment)
    await user.done('sessions', 'list')
    await expect.poll(() => leftOf(user), { timeout: 20_000 }).toEqual([])
  },
)

test('18.2 a download whose adding was killed while it ran for the first time is held', needs('linux'), async () => {
  const user = await createRegistryUser()
  const at = '/sample.tar.gz'
  const archive = user.registry.put(at, await archiveOf('tar.gz', FAILING_AGENT))
  user.registry.list(entryOf('sample', binaryFor({ archive, cmd: './bin/agent', args: ['acp', 'orphan'] })))
  const adding = startAdding(user, '--allow-unverified')
  await expect.poll(() => user.processes().filter(isAgent).length, WAIT).toBeGreaterThanOrEqual(2)
  adding.kill('SIGKILL')
  await once(adding, 'exit')

  user.registry.put(at, await archiveOf('tar.gz'))
  const add = ['adapters', 'add', 'acp:sample', '--as', 'another'] as const
  const other = await user.run(...add, '--allow-unverified')
  expect(other.stderr).toMatch(/Another file is at .*sample\.tar\.gz/)
  const [sum = ''] = /(?<=--sha256 )[0-9a-f]{64}/.exec(other.stderr) ?? []
  expect((await user.run(...add, '--sha256', sum, '--force')).code).toBe(0)
})

test('18 what a living process adds is not touched by other commands and gateways', needs('linux'), async () => {
  const { user, isThere } = await momentOf('download')
  const content = await archiveOf('tar.gz')
  let finish = (): void => undefined
  user.registry.put('/sample.tar.gz', (response) => {
    response.writeHead(200, { 'content-length': String(content.length) })
    response.write(content.subarray(0, 10))
    finish = () => void response.end(content.subarray(10))
  })
  const adding = startAdding(user, '--allow-unverified')
  await expect.poll(isThere, WAIT).toBe(true)
  // Beyond the age at which a lock counts as that of a dead process, as on a machine that was asleep.
  adding.kill('SIGSTOP')
  await user.run('adapters', 'remove', 'nothing')
  await user.done('sessions', 'list')
  expect(isThere()).toBe(true)
  adding.kill('SIGCONT')
  finish()
  expect(await once(adding, 'exit')).toEqual([0, null])
  expect((await user.done('adapters', 'show', 'sample')).json).toMatchObject({ state: { installed: true } })
})
