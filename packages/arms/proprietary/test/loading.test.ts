import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { adapter, allow, connect, packagePath, talk } from './connecting.ts'

const good = { 'good-adapter': { version: '1.2.3', module: packagePath('good/index.mjs') } }

test('an adapter that the host does not allow is refused, and the allowed ones are named', async () => {
  const refused = connect({ adapter: 'left-pad', allowed: good })
  await expect(refused).rejects.toMatchObject({
    code: 'protocol_unsupported',
    message: expect.stringContaining('left-pad is not one that this host allows. Expected one of good-adapter'),
  })
  await expect(connect({ adapter: 'constructor', allowed: good })).rejects.toMatchObject({
    code: 'protocol_unsupported',
  })
  await expect(connect({ adapter: 'good-adapter' })).rejects.toMatchObject({
    message: expect.stringContaining('of which there is none'),
  })
})

test.each([
  ['a path', packagePath('good/index.mjs')],
  ['a file URL', pathToFileURL(packagePath('good/index.mjs'))],
  ['the text of a file URL', pathToFileURL(packagePath('good/index.mjs')).href],
])('F90 an allowed adapter is loaded from %s', async (_, module) => {
  const connection = await connect({
    adapter: 'good-adapter',
    allowed: { 'good-adapter': { version: '1.2.3', module } },
  })
  expect(connection.info).toMatchObject({ name: 'good', version: '1.2.3' })
})

test.each([
  ['at another version', 'good-adapter', '1.2.4', 'good-adapter@1.2.3'],
  ['of another name', 'better-adapter', '1.2.3', 'good-adapter@1.2.3'],
])('a package %s is refused', async (_, name, version, given) => {
  const allowed = { [name]: { version, module: packagePath('good/index.mjs') } }
  await expect(connect({ adapter: name, allowed })).rejects.toMatchObject({
    code: 'protocol_unsupported',
    parts: { expected: `${name}@${version}`, given },
  })
})

test('a module that cannot be loaded says why', async () => {
  const at = (module: string) =>
    connect({ adapter: 'odd-adapter', allowed: { 'odd-adapter': { version: '0.0.1', module } } })
  await expect(at(packagePath('odd/broken.mjs'))).rejects.toMatchObject({
    message: expect.stringContaining('its dependency is missing'),
  })
  await expect(at('/no/such/module.mjs')).rejects.toMatchObject({ code: 'protocol_unsupported' })
})

test('a default export that is no AgentCliClient is refused, and what is missing is named', async () => {
  const allowed = { 'odd-adapter': { version: '0.0.1', module: packagePath('odd/index.mjs') } }
  await expect(connect({ adapter: 'odd-adapter', allowed })).rejects.toMatchObject({
    parts: { given: 'all but events, cancel, close' },
  })
  for (const exported of [undefined, null, 7, {}, () => undefined]) {
    await expect(connect({ allowed: allow(exported) })).rejects.toMatchObject({ code: 'protocol_unsupported' })
  }
})

test('a class and a function make a client for each session; an object serves one at a time', async () => {
  const client = adapter({})
  await connect({ allowed: allow(() => adapter({})) })
  const first = await connect({ allowed: allow(client) })
  await expect(connect({ allowed: allow(client) })).rejects.toMatchObject({ code: 'not_supported' })
  await first.close()
  await connect({ allowed: allow(client) })
})

test('an adapter gets its folder and its options, and nothing of the host', async () => {
  const received: unknown[] = []
  await talk(
    {
      connect: async (options) => {
        received.push({ ...options, abortSignal: options.abortSignal.aborted })
      },
    },
    { settings: { prompt: '> ' } },
  )
  expect(received).toEqual([
    expect.objectContaining({
      abortSignal: false,
      settings: { prompt: '> ' },
      command: process.execPath,
      args: [],
      termGraceMs: 100,
    }),
  ])
  expect(received[0]).toMatchObject({ env: { FIXTURE: 'given' } })
})
