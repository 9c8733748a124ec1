import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ledgerFile } from '../src/ledger.ts'
import { acpProgram, silentProgram } from './acp-program.ts'
import { binaryEntry, entryOf, follow, leftIn, registryWorld, sha256Of } from './registry-world.ts'
import { adapterOf, serveFiles, textAt } from './test-host.ts'

const TIMEOUT = { timeout: 120_000 }

test('18.2 an agent is added by its id: installed, started once, and written as an adapter', TIMEOUT, async () => {
  const { adapters, host } = await registryWorld()
  // What a killed process has left.
  mkdirSync(join(host.home, 'agents/.new-sample-0badc0de/agents'), { recursive: true })
  const { events, error } = await follow(adapters.addAgent('sample', {}))
  expect(error).toBeUndefined()
  expect(events[0]).toMatchObject({ type: 'plan', plan: { package: 'sample-agent@1.0.0', way: 'npx', slug: 'sample' } })
  expect(events.at(-1)).toMatchObject({
    type: 'added',
    adapter: {
      slug: 'sample',
      source: 'user',
      installed: true,
    },
    state: { version: '1.0.0', versionOk: true, method: 'npm', ready: true },
  })
  expect(leftIn(host)).toEqual(['adapters/sample', 'agents/sample', 'provisioning/sample.json'])
  expect(textAt(join(host.home, 'adapters/sample/AGENT-CLI.md'))).toContain('agent_name: sample')
  const { executable = '' } = await adapters.state('sample')
  expect(executable.startsWith(join(host.home, 'agents/sample/'))).toBe(true)
  expect(await adapters.remove('sample')).toMatchObject({ agentRemoved: true })
  expect(leftIn(host)).toEqual([])
})

test(
  '18.2 a pinned version that is gone is replaced by the nearest, and one that is asked for is not',
  TIMEOUT,
  async () => {
    const { adapters, publish } = await registryWorld({ versions: ['1.0.0', '1.2.0'] })
    publish(entryOf({ version: '1.1.0', distribution: { npx: { package: 'sample-agent@1.1.0' } } }))
    const { events, error } = await follow(adapters.addAgent('sample', {}))
    expect(error).toBeUndefined()
    expect(events[0]).toMatchObject({ plan: { package: 'sample-agent@1.2.0', missing: '1.1.0' } })
    expect(events.at(-1)).toMatchObject({ state: { version: '1.2.0' } })
    await expect(adapters.lookUp('sample', { version: '1.1.5' })).rejects.toMatchObject({
      code: 'install_failed',
      message: expect.stringContaining('1.2.0'),
    })
    expect(await adapters.lookUp('sample', { version: '1.0.0' })).toMatchObject({ package: 'sample-agent@1.0.0' })
  },
)

test(
  '18.3 an agent that does not shake hands is not added, and nothing of it is left; forced, its adapter says so',
  TIMEOUT,
  async () => {
    const { adapters, host } = await registryWorld({ source: silentProgram })
    const { error } = await follow(adapters.addAgent('sample', {}))
    expect(error).toMatchObject({ message: expect.stringContaining('--force') })
    expect(leftIn(host)).toEqual([])
    const forced = await follow(adapters.addAgent('sample', { force: true }))
    expect(forced.events.at(-1)).toMatchObject({
      adapter: {
        unverified: expect.arrayContaining([expect.stringContaining('handshake failed')]),
      },
    })
  },
)

test(
  '18.3 an agent that may need the install scripts which were not run is not added, and says so',
  TIMEOUT,
  async () => {
    // As packages do whose script fetches the program of a platform.
    const needsScript = `\nif (!require('node:fs').existsSync(__dirname + '/fetched')) process.exit(1)\n`
    const source = (version: string): string => acpProgram(version).replace('\n', needsScript)
    const postinstall = "node -e \"require('fs').writeFileSync('fetched', '')\""
    const { adapters, host } = await registryWorld({ source, more: { scripts: { postinstall } } })
    const { error } = await follow(adapters.addAgent('sample', {}))
    expect(error).toMatchObject({ message: expect.stringContaining('add it with --allow-scripts') })
    expect(leftIn(host)).toEqual([])
    expect((await follow(adapters.addAgent('sample', { allowScripts: true }))).error).toBeUndefined()
  },
)

test('18.2 an agent that opens no session without a login is added, with what it said', TIMEOUT, async () => {
  const source = (version: string): string =>
    acpProgram(version).replace(
      'results[method] ?',
      `method === 'session/new' ? { error: { code: -32000, message: 'Run sample login' } } : results[method] ?`,
    )
  const { adapters } = await registryWorld({ source })
  expect((await follow(adapters.addAgent('sample', {}))).events.at(-1)).toMatchObject({
    state: { auth: 'unknown', ready: true, loginHint: expect.stringContaining('Run sample login') },
  })
})

test('18.2 a download without a checksum needs a word, and from then on only that file is taken', TIMEOUT, async () => {
  const program = acpProgram('1.0.0')
  const files: Record<string, string> = { '/sample-acp': program }
  const { url } = await serveFiles(files)
  const { adapters, host, publish } = await registryWorld()
  const at = `${url}/sample-acp`
  publish(binaryEntry(at))
  const refused = await follow(adapters.addAgent('sample', {}))
  expect(refused.error).toMatchObject({ code: 'install_failed', parts: { data: { unverified: at } } })
  expect(leftIn(host)).toEqual([])
  const { events, error } = await follow(adapters.addAgent('sample', { allowUnverified: true }))
  expect(error).toBeUndefined()
  expect(events).toContainEqual(
    expect.objectContaining({ type: 'download', sha256: sha256Of(program), verified: false }),
  )
  expect(textAt(join(host.home, 'adapters/sample/AGENT-CLI.md'))).toContain(`verify_sha256: ${sha256Of(program)}`)

  // Another file at the same address, and the entry has changed.
  const other = `${program}// changed\n`
  files['/sample-acp'] = other
  publish({ ...binaryEntry(at), version: '1.0.1' })
  const changed = await follow(adapters.update('sample', { allowUnverified: true }))
  expect(changed.error?.message).toContain(sha256Of(program))
  expect(changed.error?.message).toContain(sha256Of(other))
  const { executable = '' } = await adapters.state('sample')
  expect(readFileSync(executable, 'utf8')).toBe(program)
  const given = await follow(adapters.update('sample', { sha256: sha256Of(other).toUpperCase() }))
  expect(given.error).toBeUndefined()
  expect(readFileSync((await adapters.state('sample')).executable ?? '', 'utf8')).toBe(other)
})

test('18.2 a sum that is given is held against the download, and against the entry', TIMEOUT, async () => {
  const { url } = await serveFiles({ '/sample-acp': acpProgram('1.0.0') })
  const { adapters, host, publish } = await registryWorld()
  publish(binaryEntry(`${url}/sample-acp`))
  const wrong = '0'.repeat(64)
  expect((await follow(adapters.addAgent('sample', { sha256: wrong }))).error?.message).toContain(wrong)
  publish(binaryEntry(`${url}/sample-acp`, { sha256: sha256Of(acpProgram('1.0.0')) }))
  expect((await follow(adapters.addAgent('sample', { sha256: wrong }))).error?.message).toContain('another SHA-256')
  expect(leftIn(host)).toEqual([])
  expect((await follow(adapters.addAgent('sample', {}))).error).toBeUndefined()
})

test(
  '18.1 an update replaces the agent after its checks; one that fails leaves the old one as it was',
  TIMEOUT,
  async () => {
    const source = (version: string): string => (version === '3.0.0' ? silentProgram(version) : acpProgram(version))
    const { adapters, host, publish } = await registryWorld({ versions: ['1.0.0', '2.0.0', '3.0.0'], source })
    await follow(adapters.addAgent('sample', {}))
    expect((await adapters.outdated({})).updates).toEqual([])
    publish(entryOf({ version: '3.0.0', distribution: { npx: { package: 'sample-agent@3.0.0' } } }))
    expect((await adapters.outdated({})).updates).toEqual([
      { slug: 'sample', registryId: 'sample', installed: '1.0.0', available: '3.0.0', bundled: false, edited: false },
    ])
    const before = [textAt(join(host.home, 'adapters/sample/AGENT-CLI.md')), await adapters.state('sample')]
    expect((await follow(adapters.update('sample', {}))).error).toMatchObject({
      message: expect.stringContaining('--force'),
    })
    expect([textAt(join(host.home, 'adapters/sample/AGENT-CLI.md')), await adapters.state('sample')]).toEqual(before)
    expect(leftIn(host)).toEqual(['adapters/sample', 'agents/sample', 'provisioning/sample.json'])

    publish(entryOf({ version: '2.0.0', distribution: { npx: { package: 'sample-agent@2.0.0' } } }))
    expect((await follow(adapters.update('sample', {}))).events.at(-1)).toMatchObject({ state: { version: '2.0.0' } })
    expect((await adapters.outdated({})).updates).toEqual([])
  },
)

test('18.1 a manifest that its owner has edited is replaced only when that is allowed', TIMEOUT, async () => {
  const { adapters, host, publish } = await registryWorld({ versions: ['1.0.0', '2.0.0'] })
  await follow(adapters.addAgent('sample', {}))
  const file = join(host.home, 'adapters/sample/AGENT-CLI.md')
  writeFileSync(file, textAt(file).replace('An agent for tests', 'My own words'))
  publish(entryOf({ version: '2.0.0', distribution: { npx: { package: 'sample-agent@2.0.0' } } }))
  expect((await adapters.outdated({})).updates).toMatchObject([{ edited: true }])
  expect((await follow(adapters.update('sample', {}))).error).toMatchObject({ code: 'adapter_edited' })
  expect((await follow(adapters.addAgent('sample', {}))).error).toMatchObject({ code: 'adapter_edited' })
  expect(textAt(file)).toContain('My own words')
  expect((await follow(adapters.update('sample', { replaceEdited: true }))).error).toBeUndefined()
  expect(textAt(file)).not.toContain('My own words')
})

test('18.2 an agent that is cancelled while npm runs, or while it is asked, leaves nothing', TIMEOUT, async () => {
  const hanging = (version: string): string =>
    `#!/usr/bin/env node\nif (process.argv.includes('--version')) console.log('${version}')\nelse process.stdin.resume()\n`
  const { adapters, host } = await registryWorld({ source: hanging })
  for (const last of ['method', 'handshake']) {
    const abort = new AbortController()
    const cancelled = (async () => {
      for await (const event of adapters.addAgent('sample', { signal: abort.signal }))
        if (event.type === last || (event.type === 'phase' && event.phase === last)) abort.abort()
    })()
    await expect(cancelled).rejects.toMatchObject({ code: 'cancelled' })
    expect(leftIn(host)).toEqual([])
  }
})

test('18.2 of two that add an agent at once, the second is refused', TIMEOUT, async () => {
  const { adapters, host } = await registryWorld()
  const { error } = await ledgerFile('sample', host).locked(() => follow(adapters.addAgent('sample', {})))
  expect(error).toMatchObject({ code: 'provisioning_busy' })
  expect(leftIn(host)).toEqual([])
})

test('18.2 an unknown id is answered with those that may be meant, and a bad one leads nowhere', async () => {
  const { adapters, host, publish } = await registryWorld()
  publish(entryOf(), entryOf({ id: 'sample-two' }), entryOf({ id: 'other' }))
  await expect(adapters.lookUp('smaple', {})).rejects.toMatchObject({
    code: 'adapter_not_found',
    message: expect.stringContaining('such as sample'),
  })
  for (const id of ['..', '../sample', '', 'a/b', 'SAMPLE\0', '__proto__'])
    expect((await follow(adapters.addAgent(id, {}))).error).toMatchObject({ code: 'adapter_not_found' })
  expect(leftIn(host)).toEqual([])
})

test('18.2 an agent that cannot be installed here says which ways there are', async () => {
  const { adapters, publish } = await registryWorld()
  publish(
    entryOf({ distribution: { binary: { 'windows-aarch64': { archive: 'https://a.example/a.zip', cmd: 'a' } } } }),
  )
  await expect(adapters.lookUp('sample', {})).rejects.toMatchObject({
    code: 'install_failed',
    message: expect.stringContaining('only for windows-aarch64'),
  })
  expect((await adapters.search({})).agents).toMatchObject([
    { registryId: 'sample', installed: false, unavailable: expect.stringContaining('windows-aarch64') },
  ])
})

test(
  '18.4 an agent of the catalogue is installed by its own adapter; the id of another agent gets another slug',
  TIMEOUT,
  async () => {
    const own = await adapterOf({
      name: 'tool',
      id: 'tool',
      bin: 'sample-agent',
      install: [{ method: 'npm', package: 'sample-agent@1.0.0' }],
      version_check: { cmd: 'sample-agent --version', parse: '(\\d+\\.\\d+\\.\\d+)', range: '>=1.0.0 <3.0.0' },
      metadata: { agentproto: { registry_id: 'sample', tested: 'sample 1.0.0' } },
    })
    const world = { versions: ['1.0.0', '2.0.0'], bundled: join(own.directory, '..') }
    const { adapters, host, publish } = await registryWorld(world)
    publish(entryOf(), entryOf({ id: 'tool', name: 'Another Tool' }))
    const absent = { type: 'phase', phase: 'install', state: 'skipped', detail: 'it is not installed' }
    expect((await follow(adapters.update('tool', {}))).events).toContainEqual(absent)
    const { events, error } = await follow(adapters.addAgent('sample', {}))
    expect(error).toBeUndefined()
    expect(events[0]).toMatchObject({ plan: { slug: 'tool', catalogue: { slug: 'tool', tested: 'sample 1.0.0' } } })
    expect(events.at(-1)).toMatchObject({ adapter: { slug: 'tool', source: 'bundled', installed: true } })
    expect(leftIn(host)).toEqual(['agents/tool', 'provisioning/tool.json'])
    expect((await adapters.search({ text: 'TOOL' })).agents).toMatchObject([
      { slug: 'tool', registryId: 'sample', installed: true, tested: 'sample 1.0.0' },
      { registryId: 'tool', name: 'Another Tool', installed: false },
    ])

    // The registry has a newer version: it is an update, after the same checks.
    publish(
      entryOf({ version: '2.0.0', distribution: { npx: { package: 'sample-agent@2.0.0' } } }),
      entryOf({ id: 'tool' }),
    )
    expect((await adapters.outdated({})).updates).toEqual([
      { slug: 'tool', registryId: 'sample', installed: '1.0.0', available: '2.0.0', bundled: true, edited: false },
    ])
    expect((await follow(adapters.update('tool', {}))).events.at(-1)).toMatchObject({ state: { version: '2.0.0' } })
    expect((await adapters.outdated({})).updates).toEqual([])

    // By another slug the entry itself, and another agent that has the slug of ours as its id.
    expect(await adapters.lookUp('sample', { slug: 'mine' })).toMatchObject({
      slug: 'mine',
      package: 'sample-agent@2.0.0',
    })
    expect(await adapters.lookUp('tool', {})).toMatchObject({ slug: 'acp-tool' })
    await expect(adapters.lookUp('sample', { slug: 'tool' })).rejects.toMatchObject({ code: 'adapter_exists' })
  },
)
