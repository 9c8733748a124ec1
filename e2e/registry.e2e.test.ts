import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { tar } from '../packages/provisioning/test/archives.js'
import { needs } from '../tooling/needs.ts'
import { entryOf } from './support/agent-registry.js'
import { endless, redirect } from './support/loopback-server.js'
import {
  ARCHIVE_FORMS,
  archiveOf,
  binaryFor,
  FAILING_AGENT,
  publishNpm,
  publishPython,
  UNFIT_AGENT,
} from './support/packed-agents.js'
import { createRegistryUser, type RegistryUser } from './support/registry-user.js'

// Agents of a registry by their names, as a user without a terminal types it, with everything on loopback.

const sha256 = (content: Uint8Array): string => createHash('sha256').update(content).digest('hex')

/** A user with an agent of npm, whose entry pins a version. */
async function withNpmAgent(versions: readonly string[], pin: string, more: object = {}): Promise<RegistryUser> {
  const user = await createRegistryUser(entryOf('sample', { npx: { package: `sample-agent@${pin}` } }))
  await publishNpm(user.registry, { name: 'sample-agent', versions, more })
  return user
}

/** A user with an agent that is downloaded. */
async function withDownload(name: string, content: Uint8Array, target: object = {}): Promise<RegistryUser> {
  const user = await createRegistryUser()
  const archive = user.registry.put(`/${name}`, content)
  user.registry.list(entryOf('sample', binaryFor({ archive, cmd: './bin/agent', ...target })))
  return user
}

test('18.2 an agent of npm is added by its name: installed, asked what it offers, and able to start', async () => {
  const user = await withNpmAgent(['1.2.3', '1.3.0'], '1.2.3')
  const { json } = await user.done('adapters', 'add', 'acp:sample')
  expect(json).toMatchObject({ adapter: { slug: 'sample', installed: true }, state: { ready: true } })
  expect(user.manifest('sample')).toContain('package: sample-agent@1.2.3')
  const shown = await user.done('adapters', 'show', 'sample')
  expect(shown.json).toMatchObject({
    observed: { protocolVersion: 1, session: 'opened', ends: 'stdin', stdoutNoise: { lines: 0 } },
    state: { installed: true },
  })
  const { json: session } = await user.done('sessions', 'start', 'sample', '--cwd', user.cwd, '--prompt', 'hello')
  const { json: turn } = await user.done('sessions', 'wait', String(session['id']))
  expect(turn).toMatchObject({ text: 'echo: hello' })
  await user.run('stop')
  await user.done('adapters', 'remove', 'sample')
  expect(user.left()).toEqual([])
})

test('18.2 a pinned version that is gone is replaced by the nearest, which is said', async () => {
  const user = await withNpmAgent(['1.2.0', '1.2.9', '2.0.0'], '1.2.3')
  const { notes } = await user.done('adapters', 'add', 'acp:sample')
  expect(notes).toMatch(/1\.2\.3.*1\.2\.9/s)
  expect(user.manifest('sample')).toContain('package: sample-agent@1.2.9')
})

test.each(ARCHIVE_FORMS)(
  '18.2 an agent in a download of the form %s is added with the checksum that the user gives',
  needs('linux', 'python3'),
  async (form) => {
    const content = await archiveOf(form)
    const user = await withDownload(`sample${form === 'raw' ? '' : `.${form}`}`, content)
    await user.done('adapters', 'add', 'acp:sample', '--sha256', sha256(content))
    expect(user.manifest('sample')).toContain(sha256(content))
    const { json } = await user.done('adapters', 'show', 'sample')
    expect(json).toMatchObject({ observed: { session: 'opened' }, state: { installed: true } })
  },
)

test(
  '18.2 without a terminal a download without a checksum is refused, and another checksum as well',
  needs('linux'),
  async () => {
    const content = await archiveOf('tar.gz')
    const user = await withDownload('sample.tar.gz', content)
    expect(await user.refused('adapters', 'add', 'acp:sample')).toMatchObject({
      code: 'install_failed',
      detail: expect.stringContaining('checksum'),
    })
    const other = '0'.repeat(64)
    const { detail } = await user.refused('adapters', 'add', 'acp:sample', '--sha256', other)
    expect(detail).toContain(other)
    expect(detail).toContain(sha256(content))
  },
)

test(
  '18.2 the checksum of the first download is recorded, and another file at its address is refused',
  needs('linux'),
  async () => {
    const first = await archiveOf('zip')
    const user = await withDownload('sample.zip', first)
    const { notes } = await user.done('adapters', 'add', 'acp:sample', '--allow-unverified')
    expect(notes).toContain(sha256(first))
    expect(user.manifest('sample')).toContain(sha256(first))
    const second = await archiveOf('zip', FAILING_AGENT)
    user.registry.put('/sample.zip', second)
    for (const command of [
      ['adapters', 'install', 'sample', '--force'],
      ['adapters', 'add', 'acp:sample', '--allow-unverified'],
    ]) {
      const { detail } = await user.refused(...command)
      expect(detail).toContain(sha256(first))
      expect(detail).toContain(sha256(second))
    }
    expect((await user.done('adapters', 'show', 'sample')).json).toMatchObject({ state: { installed: true } })
  },
)

test('18.2 an agent of PyPI is added into an environment of its own', needs('linux', 'python-venv'), async () => {
  const user = await createRegistryUser(entryOf('sample', { uvx: { package: 'sampleagent==1.2.3' } }))
  publishPython(user.registry, 'sampleagent', '1.2.3')
  await user.done('adapters', 'add', 'acp:sample')
  expect((await user.done('adapters', 'show', 'sample')).json).toMatchObject({ observed: { session: 'opened' } })
})

test('18 an install script is run only if it is allowed', needs('linux'), async () => {
  const user = await withNpmAgent(['1.2.3'], '1.2.3', { scripts: { postinstall: 'echo > ran' } })
  const ran = (): boolean => existsSync(join(user.home, 'agents/sample/node_modules/sample-agent/ran'))
  const { notes } = await user.done('adapters', 'add', 'acp:sample')
  expect(notes).toMatch(/install scripts?.*sample-agent@1\.2\.3/is)
  expect(ran()).toBe(false)
  await user.done('adapters', 'remove', 'sample')
  await user.done('adapters', 'add', 'acp:sample', '--allow-scripts')
  expect(ran()).toBe(true)
  expect(user.manifest('sample')).toContain('install_scripts: run')
})

test.each([
  ['leads out of its folder', [{ name: '../../../agents/evil' }, 'evil']],
  ['leads out of its folder', [{ name: '/tmp/evil' }, 'evil']],
  ['leads out of its folder', [{ name: 'bin', type: 'symlink', linkname: '../..' }]],
  ['does not hold the file', [{ name: 'README' }, 'no program']],
] as const)('18 an archive that %s is refused (%#)', needs('linux'), async (reason, entry) => {
  const content = gzipSync(await tar(entry))
  const user = await withDownload('sample.tar.gz', content)
  const { code, detail } = await user.refused('adapters', 'add', 'acp:sample', '--sha256', sha256(content))
  expect([code, detail]).toEqual(['install_failed', expect.stringContaining(reason)])
})

test('18 a download that is too large, cut off, or leads elsewhere is refused', needs('linux'), async () => {
  const user = await withDownload('sample.tar.gz', await archiveOf('tar.gz'))
  const add = () => user.refused('adapters', 'add', 'acp:sample', '--allow-unverified')
  user.registry.put('/sample.tar.gz', (response) => {
    response.writeHead(200, { 'content-length': String(5 * 1024 ** 3) })
    response.write('x')
  })
  expect((await add()).detail).toContain('larger than')
  user.registry.put('/sample.tar.gz', (response) => {
    response.writeHead(200, { 'content-length': '1000' })
    response.write('x')
    setImmediate(() => response.destroy())
  })
  expect((await add()).code).toBe('install_failed')
  user.registry.put('/sample.tar.gz', redirect('http://192.0.2.1/agent.tar.gz'))
  expect((await add()).detail).toContain('not protected')
})

/** A user with an agent of npm that is not fit to be driven. */
async function withUnfit(agent: string, ...args: readonly string[]): Promise<RegistryUser> {
  const user = await createRegistryUser(entryOf('sample', { npx: { package: 'sample-agent@1.2.3', args } }))
  await publishNpm(user.registry, { name: 'sample-agent', versions: ['1.2.3'], agent })
  return user
}

test.each([
  ['ends at once', FAILING_AGENT, ['acp', 'dies-at-once']],
  ['speaks another version', FAILING_AGENT, ['acp', 'wrong-version']],
  ['floods', UNFIT_AGENT, ['floods']],
] as const)(
  '18.3 an agent that %s at the handshake is not added, and nothing of it stays',
  needs('linux'),
  async (_what, agent, args) => {
    const user = await withUnfit(agent, ...args)
    expect((await user.refused('adapters', 'add', 'acp:sample')).code).toMatch(/^(?:handshake_failed|agent_crashed)$/)
  },
)

test(
  '18.3 an agent that gives no answer is not added, whatever it does meanwhile, and nothing of it stays',
  needs('linux'),
  async () => {
    const users = [
      await withUnfit(FAILING_AGENT, 'acp', 'silent'),
      // It has a process of its own, and both ignore SIGTERM.
      await withUnfit(FAILING_AGENT, 'acp', 'orphan'),
      // A line without an end.
      await withUnfit(UNFIT_AGENT, 'line'),
    ]
    const problems = await Promise.all(users.map((user) => user.refused('adapters', 'add', 'acp:sample')))
    for (const { code } of problems) expect(code).toMatch(/^(?:handshake_failed|timeout)$/)
  },
)

test('18.3 an agent that does not shake hands is added by force, and says so', needs('linux'), async () => {
  const user = await withUnfit(FAILING_AGENT, 'acp', 'dies-at-once')
  await user.done('adapters', 'add', 'acp:sample', '--force')
  const { json } = await user.done('adapters', 'show', 'sample')
  expect(json).toMatchObject({ observed: { failed: { code: expect.any(String), message: expect.any(String) } } })
  await user.done('adapters', 'remove', 'sample')
  expect(user.left()).toEqual([])
})

test('18.3 what an agent left behind is ended, removed and named', needs('linux'), async () => {
  const user = await withUnfit(UNFIT_AGENT, 'forks')
  await user.done('adapters', 'add', 'acp:sample')
  const { json } = await user.done('adapters', 'show', 'sample')
  expect(json).toMatchObject({ observed: { leaves: { processes: [expect.stringContaining('node')], files: 1 } } })
  await user.done('adapters', 'remove', 'sample')
  expect([...user.left(), ...user.ownFiles()]).toEqual([])
})

test('18.3 what an agent says of itself reaches no terminal as a command', needs('linux'), async () => {
  const user = await withUnfit(UNFIT_AGENT, 'evil')
  const ends = [await user.run('adapters', 'add', 'acp:sample')]
  for (const words of [['show', 'sample'], ['show', 'sample', '--json'], ['list']])
    ends.push(await user.run('adapters', ...words))
  for (const { stdout, stderr } of ends) expect(`${stdout}${stderr}`).not.toMatch(/[\u001B\u0007\u202E]/)
  expect(user.manifest('sample')).not.toMatch(/[\u001B\u0007\u202E]/)
})

const GOOD = entryOf('sample', { npx: { package: 'sample-agent@1.2.3' } })

test('18 a registry that cannot be used is an error, and the list works', async () => {
  const user = await createRegistryUser(GOOD)
  const add = async () => (await user.refused('adapters', 'add', 'acp:sample')).detail
  const { put } = user.registry
  put('/registry.json', endless(60 * 1024 ** 2))
  expect(await add()).toContain('too large')
  put('/registry.json', '<html>log in</html>')
  expect(await add()).toContain('not JSON')
  put('/registry.json', JSON.stringify({ version: '9.0.0', agents: [] }))
  expect(await add()).toContain('9.0.0')
  put('/registry.json', redirect('http://192.0.2.1/registry.json'))
  expect(await add()).toContain('not protected')
  put('/registry.json', (response) => void response.destroy())
  expect(await add()).toContain('cannot be read')
  const { json } = await user.done('adapters', 'search', 'demo')
  expect(json).toMatchObject({ agents: [{ slug: 'demo' }], warning: expect.stringContaining('cannot be read') })
})

test('18 entries that cannot be used are left out, and the others are found', async () => {
  const user = await createRegistryUser(
    GOOD,
    entryOf('sample', { npx: { package: 'other-agent' } }),
    entryOf('../../evil', { npx: { package: 'evil' } }),
    entryOf('other', { npx: { package: 'git+https://example.com/evil' } }),
  )
  const { stdout } = await user.run('adapters', 'search', 'sample')
  expect(stdout.match(/^.*\bsample\b.*$/gm)).toHaveLength(1)
  for (const id of ['../../evil', 'evil', 'sampel', 'other', '..', '-x', ''])
    expect((await user.refused('adapters', 'add', `acp:${id}`)).code).toMatch(
      /^(?:adapter_not_found|install_failed|invalid_request|path_invalid)$/,
    )
  expect((await user.refused('adapters', 'add', 'acp:sampel')).detail).toContain('sample')
})

test('18.1 a registry is asked once, and its copy is used without a network', async () => {
  const user = await createRegistryUser(GOOD)
  await user.done('adapters', 'search', 'sample')
  await user.done('adapters', 'search', 'sample')
  await user.done('adapters', 'search', 'sample', '--refresh')
  const asked = user.registry.asked.filter((path) => path.startsWith('/registry.json'))
  expect(asked).toEqual(['/registry.json', '/registry.json 304'])
  user.registry.put('/registry.json', (response) => void response.destroy())
  expect(JSON.stringify((await user.done('adapters', 'search', 'sample', '--offline')).json)).toContain('"sample"')
})

test('18.2 an agent of another platform is refused with the platforms that it has', async () => {
  const user = await createRegistryUser(
    entryOf('sample', { binary: { 'windows-x86_64': { archive: 'https://example.com/a.zip', cmd: 'a.exe' } } }),
  )
  expect((await user.refused('adapters', 'add', 'acp:sample')).detail).toContain('windows-x86_64')
})
