import { findInstallTools, lookUpNpm } from '@agentproto/provisioning'
import { expect, test } from 'vitest'
import { nearestVersion } from '../src/nearest-version.ts'
import { npmRegistry } from './npm-registry.ts'
import { folder, hostOf, program } from './test-host.ts'

const TIMEOUT = { timeout: 60_000 }

/** A host whose npm asks a registry with one package. */
async function hostWith(name: string, versions: readonly string[], more: Readonly<Record<string, unknown>> = {}) {
  const { url } = await npmRegistry(name, versions, more)
  return hostOf({ env: { ...process.env, npm_config_registry: url } })
}

test('18.2 npm is asked for what an entry does not say: the program, scripts and licence', TIMEOUT, async () => {
  const more = {
    bin: { 'sample-acp': 'main.js' },
    license: 'MIT',
    scripts: { postinstall: 'exit 1' },
    deprecated: 'old\u001B[31m',
  }
  const host = await hostWith('sample-agent', ['1.2.3'], more)
  expect(await lookUpNpm({ name: 'sample-agent', version: '1.2.3' }, host)).toMatchObject({
    version: '1.2.3',
    programs: ['sample-acp'],
    program: 'sample-acp',
    hasInstallScripts: true,
    license: 'MIT',
  })
})

test('18.2 a version that is gone is replaced by the nearest, and says so', TIMEOUT, async () => {
  const host = await hostWith('sample-agent', ['1.0.0', '1.2.0', '1.4.0', '2.0.0'])
  const of = (wish: object) => lookUpNpm({ name: 'sample-agent', ...wish }, host)
  expect(await of({ version: '1.3.9' })).toMatchObject({ version: '1.4.0', missing: '1.3.9', program: 'sample-agent' })
  expect(await of({ version: '1.2.0' })).not.toHaveProperty('missing')
  expect(await of({})).toMatchObject({ version: '2.0.0' })
  expect(await of({ wanted: '^1.0.0' })).toMatchObject({ version: '1.4.0' })
  expect(await of({ version: '7.0.0' })).toMatchObject({ version: '2.0.0', missing: '7.0.0' })
})

test('18.2 a package that npm does not have is an error, and nothing can be an option of npm', TIMEOUT, async () => {
  const host = await hostWith('sample-agent', ['1.0.0'])
  for (const name of ['no-such-agent', '--registry=http://127.0.0.1:1'])
    await expect(lookUpNpm({ name }, host)).rejects.toMatchObject({ code: 'install_failed' })
  const signal = AbortSignal.abort()
  await expect(lookUpNpm({ name: 'sample-agent', signal }, host)).rejects.toMatchObject({ code: 'cancelled' })
})

test.each([
  ['0.0.33', ['0.0.34', '0.1.0'], '0.0.34'],
  ['1.39.4', ['1.38.0', '1.38.11', '2.0.0'], '1.38.11'],
  ['1.0.30', ['1.0.41', '1.0.29', '1.1.0'], '1.0.41'],
  ['1.2.3', ['1.2.4-beta.1', '1.3.0'], '1.3.0'],
  ['1.2.3-beta.1', ['1.2.3-beta.2', '1.3.0'], '1.2.3-beta.2'],
  ['1.18.31.1', ['1.18.30', '1.18.31', '1.18.40'], '1.18.31'],
  ['0.2.14', ['1.1.52'], undefined],
  ['no version', ['1.0.0'], undefined],
  ['1.0.0', ['not a version'], undefined],
])('18.2 of %s and %j the nearest is %s', (gone, versions, nearest) => {
  expect(nearestVersion(gone, versions)).toBe(nearest)
})

test('18.2 the tools of a host are those on its PATH', async () => {
  const bin = folder('tools')
  program(bin, 'uv', '#!/bin/sh\n')
  program(bin, 'python', '#!/bin/sh\n')
  expect(await findInstallTools({ env: { PATH: bin, HOME: bin } })).toMatchObject({ uv: true, python: true })
})
