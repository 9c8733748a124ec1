import { createServer } from 'node:http'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { acpProgram } from './acp-program.ts'
import { binaryEntry, entryOf, follow, registryWorld } from './registry-world.ts'
import { adapterOf, folder, serveFiles, textAt } from './test-host.ts'

const TIMEOUT = { timeout: 240_000 }

test(
  '18.3 an agent that is tried has none of the variables of its user, also those that its entry asks for',
  TIMEOUT,
  async () => {
    const seen = join(folder('seen'), 'variables')
    const source = (version: string): string =>
      acpProgram(version).replace(
        '\n',
        `\nrequire('node:fs').appendFileSync(${JSON.stringify(seen)}, JSON.stringify([process.argv.at(-1), process.env]) + '\\n')\n`,
      )
    const env = { CLOUD_TOKEN: 'a-secret-of-the-user', SSH_AUTH_SOCK: '/run/socket-of-the-user', CLOUD_PROFILE: 'work' }
    const { adapters, publish } = await registryWorld({ source, env })
    const asked = { CLOUD_TOKEN: '', CLOUD_PROFILE: '', OWN: 'value' }
    publish(entryOf({ distribution: { npx: { package: 'sample-agent@1.0.0', env: asked } } }))
    expect((await follow(adapters.addAgent('sample', {}))).error).toBeUndefined()
    const runs = readFileSync(seen, 'utf8').trim().split('\n')
    expect(runs.length).toBeGreaterThan(1)
    expect(runs.some((run) => run.startsWith('["--version"'))).toBe(true)
    for (const run of runs) {
      expect(run).toContain('"OWN":"value"')
      expect(run).not.toMatch(/CLOUD_TOKEN|CLOUD_PROFILE|SSH_AUTH_SOCK/)
    }
  },
)

test(
  '18.2 install scripts are allowed for one package: an update to another one, or from a download, asks again',
  TIMEOUT,
  async () => {
    const ran = join(folder('ran'), 'script')
    const script = `node -e "require('fs').writeFileSync('${ran}','')"`
    const { url } = await serveFiles({ '/sample-acp': acpProgram('1.0.0') })
    const { adapters, host, publish } = await registryWorld({
      versions: ['1.0.0', '2.0.0'],
      more: { scripts: { postinstall: script } },
    })
    publish(binaryEntry(`${url}/sample-acp`))
    expect((await follow(adapters.addAgent('sample', { allowUnverified: true }))).error).toBeUndefined()
    publish(entryOf({ version: '1.0.1' }))
    const moved = await follow(adapters.update('sample', {}))
    expect(moved.error).toBeUndefined()
    expect(moved.events).toContainEqual({ type: 'warning', message: expect.stringContaining('were not run') })
    expect(existsSync(ran)).toBe(false)

    // As if the owner had allowed the scripts of another package.
    const file = join(host.home, 'adapters/sample/AGENT-CLI.md')
    const other = textAt(file).replace('package: sample-agent@', 'package: other-agent@')
    writeFileSync(file, other.replace('install_scripts: skip', 'install_scripts: run'))
    const newer = { version: '2.0.0', distribution: { npx: { package: 'sample-agent@2.0.0' } } }
    publish(entryOf(newer))
    expect((await follow(adapters.update('sample', { replaceEdited: true }))).error).toBeUndefined()
    expect(existsSync(ran)).toBe(false)

    // What was allowed for this package stays allowed for its next version.
    writeFileSync(file, textAt(file).replace('install_scripts: skip', 'install_scripts: run'))
    publish(entryOf({ ...newer, version: '2.0.1' }))
    expect((await follow(adapters.update('sample', { replaceEdited: true }))).error).toBeUndefined()
    expect(existsSync(ran)).toBe(true)
  },
)

test('18.1 a registry that goes back to an older version updates nothing', TIMEOUT, async () => {
  const { adapters, publish } = await registryWorld({ versions: ['1.0.0', '2.0.0'] })
  publish(entryOf({ version: '2.0.0', distribution: { npx: { package: 'sample-agent@2.0.0' } } }))
  expect((await follow(adapters.addAgent('sample', {}))).error).toBeUndefined()
  publish(entryOf())
  expect((await adapters.outdated({})).updates).toEqual([])
  const { events, error } = await follow(adapters.update('sample', {}))
  expect(error).toBeUndefined()
  expect(events).toContainEqual(
    expect.objectContaining({ phase: 'install', state: 'skipped', detail: expect.stringContaining('older') }),
  )
  expect(await adapters.state('sample')).toMatchObject({ version: '2.0.0' })
  // Who wants it says so.
  expect((await follow(adapters.addAgent('sample', { version: '1.0.0' }))).error).toBeUndefined()
  expect(await adapters.state('sample')).toMatchObject({ version: '1.0.0' })
})

test('18.4 the adapter of a workspace stands for no agent of the registry, and chooses no address that is asked', async () => {
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    response.end('<svg xmlns="http://www.w3.org/2000/svg"><path d="M0 0"/></svg>')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const icon = `http://127.0.0.1:${(server.address() as AddressInfo).port}/shut-down`
  const registry = { url: 'https://registry.example/', id: 'other', name: 'Other', version: '1.0.0', icon }
  const block = { ...registry, added_at: '2026-01-01T00:00:00.000Z', way: 'npx' }
  const own = await adapterOf({
    metadata: { agentproto: { registry_id: 'sample', tested: 'sample 1.0.0', registry: block } },
  })
  const { adapters } = await registryWorld({ workspace: join(own.directory, '..') })
  expect(await adapters.get('tool')).toMatchObject({ source: 'workspace' })
  const plan = await adapters.lookUp('sample', {})
  expect(plan).toMatchObject({ slug: 'sample', package: 'sample-agent@1.0.0' })
  expect(plan).not.toHaveProperty('catalogue')
  const { agents } = await adapters.search({})
  expect(agents).toMatchObject([{ slug: 'tool' }, { registryId: 'sample' }])
  expect(agents[0]).not.toHaveProperty('tested')
  await expect(adapters.icon('tool')).rejects.toMatchObject({ code: 'icon_not_found' })
  expect(asked).toEqual([])
})
