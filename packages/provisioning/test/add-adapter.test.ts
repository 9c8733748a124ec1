import { cpSync, existsSync, readdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addAdapter } from '@agentproto/provisioning'
import { expect, test } from 'vitest'
import { adapterOf, folder, hostOf, program, type TestHost, textAt } from './test-host.ts'

const add = (source: string, host: TestHost) => addAdapter(source, host, new AbortController().signal)

test('a folder is copied as a whole, without links and without what npm put there', async () => {
  const host = hostOf()
  const { directory } = await adapterOf({})
  program(join(directory, 'files'), 'tool', '#!/bin/sh\n')
  program(join(directory, 'node_modules/x'), 'index.js', '')
  symlinkSync('/etc/passwd', join(directory, 'passwd'))
  const added = await add(directory, host)
  expect(added.directory).toBe(join(host.home, 'adapters/tool'))
  expect(readdirSync(added.directory).toSorted()).toEqual(['ACP.md', 'AGENT-CLI.md', 'files'])
  expect(readdirSync(join(host.home, 'adapters'))).toEqual(['tool'])
})

test('adding again replaces; what is not valid leaves what was there', async () => {
  const host = hostOf()
  await add((await adapterOf({ version: '1.0.0' })).directory, host)
  const newer = await adapterOf({ version: '2.0.0' })
  writeFileSync(join(newer.directory, 'ACP.md'), 'nothing')
  await expect(add(newer.directory, host)).rejects.toMatchObject({
    code: 'manifest_invalid',
    parts: { data: { problems: expect.anything() } },
  })
  expect(textAt(join(host.home, 'adapters/tool/AGENT-CLI.md'))).toContain('"version":"1.0.0"')
  const added = await add((await adapterOf({ version: '2.0.0' })).directory, host)
  expect([added.manifest.version, readdirSync(join(host.home, 'adapters'))]).toEqual(['2.0.0', ['tool']])
})

test('12.C5 an adapter is added to the folder of its name, and there is one of its id', async () => {
  const host = hostOf()
  const { directory } = await adapterOf({})
  const checkout = join(folder('checkout'), 'agentproto-tool')
  cpSync(directory, checkout, { recursive: true })
  expect((await add(checkout, host)).directory).toBe(join(host.home, 'adapters/tool'))
  const manifest = join(checkout, 'AGENT-CLI.md')
  writeFileSync(manifest, textAt(manifest).replace('"name":"tool"', '"name":"new-tool"'))
  expect((await add(checkout, host)).directory).toBe(join(host.home, 'adapters/new-tool'))
  expect(readdirSync(join(host.home, 'adapters'))).toEqual(['new-tool'])
  writeFileSync(manifest, textAt(manifest).replace('"id":"tool"', '"id":"third"'))
  await expect(add(checkout, host)).rejects.toMatchObject({ code: 'path_invalid', parts: { given: 'third' } })
  for (const name of ['../../tool', 'A tool', '.tool']) {
    writeFileSync(
      manifest,
      textAt(manifest).replace(/"name":"[^"]*"/, () => JSON.stringify({ name }).slice(1, -1)),
    )
    await expect(add(checkout, host)).rejects.toMatchObject({ code: 'manifest_invalid' })
  }
})

test('an npm package is fetched without running anything of it, the newest by name', async () => {
  const host = hostOf()
  const { directory } = await adapterOf({})
  const template = folder('package')
  cpSync(directory, join(template, 'adapter'), { recursive: true })
  const npm = `#!/bin/sh\necho "$*" > ${host.bin}/call\nmkdir -p $3/node_modules/@acme\ncp -r ${template} $3/node_modules/@acme/tool-adapter\n`
  program(host.bin, 'npm', npm)
  expect((await add('@acme/tool-adapter', host)).manifest.id).toBe('tool')
  expect(textAt(join(host.bin, 'call'))).toMatch(
    /^install --prefix \S+ --ignore-scripts .* -- @acme\/tool-adapter@latest\n$/,
  )
})

test('a package that npm does not have is named, with what npm said and how an agent of the registry is added', async () => {
  const host = hostOf()
  const said = 'npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/auggie\nnpm error 404\n'
  program(host.bin, 'npm', `#!/bin/sh\ncat >&2 <<'END'\n${said}${'npm error 404 more\n'.repeat(40)}END\nexit 1\n`)
  await expect(add('auggie', host)).rejects.toMatchObject({
    code: 'install_failed',
    parts: {
      given: expect.stringMatching(/^Not Found - GET \S+auggie/) as unknown,
      hint: expect.stringContaining('acp:auggie') as unknown,
    },
  })
})

test.each(['./relative', '--prefix=/', 'git+ssh://host/x', 'a b', '/no/such/folder'])(
  '%s is no source',
  async (source) => {
    const host = hostOf()
    program(host.bin, 'npm', `#!/bin/sh\ntouch ${host.home}/mark\n`)
    await expect(add(source, host)).rejects.toMatchObject({ code: 'path_invalid' })
    expect(existsSync(join(host.home, 'mark'))).toBe(false)
  },
)
