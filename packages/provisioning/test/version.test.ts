import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { hostOf, install, methodsOf, program, textAt, versionProgram } from './test-host.ts'

const check = (more: object) => ({
  version_check: { cmd: 'agent-tool --version', parse: '(\\d+\\.\\d+\\.\\d+)', range: '>=1.0.0 <2.0.0', ...more },
})

test('F92 the version is asked of what would be launched, not of a registry or of another one on PATH', async () => {
  const host = hostOf()
  program(host.bin, 'agent-tool', versionProgram('0.1.0'))
  program(join(host.home, 'agents/tool/bin'), 'agent-tool', versionProgram('1.9.0'))
  const { events } = await install(check({}), host)
  expect(events.at(-1)).toMatchObject({ state: { version: '1.9.0', versionOk: true, ready: true } })
})

test('a version that does not fit is reinstalled once, then it is an error', async () => {
  const host = hostOf()
  program(host.bin, 'agent-tool', versionProgram('0.9.0'))
  program(
    host.bin,
    'npm',
    `#!/bin/sh\necho "$@" >> ${host.bin}/calls\nmkdir -p $3/bin\nprintf '%s' '${versionProgram('2.5.0')}' > $3/bin/agent-tool\nchmod +x $3/bin/agent-tool\n`,
  )
  const outcome = await install({ ...check({}), install: [{ method: 'npm', package: 'agent-tool' }] }, host)
  // Asked for by the range: the newest may be beyond it.
  expect(textAt(join(host.bin, 'calls')).trim().split('\n')).toEqual([
    expect.stringMatching(/ -- agent-tool@>=1\.0\.0 <2\.0\.0$/),
  ])
  expect(outcome.error).toMatchObject({ code: 'version_mismatch', parts: { expected: 'a version in >=1.0.0 <2.0.0' } })
  expect(outcome.error?.message).toContain('2.5.0 is not in >=1.0.0 <2.0.0')
})

test('a reinstall with a matching version is a success', async () => {
  const host = hostOf()
  program(host.bin, 'agent-tool', versionProgram('0.9.0'))
  program(host.bin, 'brew', `#!/bin/sh\nprintf '%s' '${versionProgram('1.0.0')}' > ${host.bin}/agent-tool\n`)
  const outcome = await install(check({}), host)
  expect(outcome.error).toBeUndefined()
  expect(methodsOf(outcome)).toEqual(['brew started: brew install agent-tool', `brew done: ${host.bin}/agent-tool`])
})

test('12.C6 a reinstall that fails does not hide that the version does not match', async () => {
  const host = hostOf()
  program(host.bin, 'agent-tool', versionProgram('0.9.0'))
  program(host.bin, 'brew', '#!/bin/sh\necho "no network" >&2\nexit 1\n')
  const { error } = await install(check({}), host)
  expect(error).toMatchObject({ code: 'version_mismatch', parts: { data: { attempts: [{ method: 'brew' }] } } })
  expect(error?.message).toContain('0.9.0 is not in >=1.0.0 <2.0.0')
  expect(error?.message).toContain('no network')
})

test('an executable that the host names is never reinstalled', async () => {
  const host = hostOf()
  const file = program(host.bin, 'mine', versionProgram('0.9.0'))
  program(host.bin, 'brew', `#!/bin/sh\ntouch ${host.home}/mark\n`)
  const { error } = await install(check({}), { ...host, executables: { 'agent-tool': file } })
  expect(error).toMatchObject({ code: 'version_mismatch' })
  expect(existsSync(join(host.home, 'mark'))).toBe(false)
})

test('the version of an agent that prints none is the version of its package', async () => {
  const host = hostOf()
  const modules = join(host.home, 'agents/tool/node_modules')
  program(join(modules, '.bin'), 'agent-tool', '#!/bin/sh\necho "unexpected argument" >&2\nexit 2\n')
  program(join(modules), 'package.json', '{"name":"x","version":"9.9.9"}')
  program(join(modules, '.bin'), 'package.json', '{"name":"agent-tool","version":"1.7.0"}')
  const { events } = await install(check({}), host)
  expect(events.at(-1)).toMatchObject({ state: { version: '1.7.0' } })
  expect(events).toContainEqual(
    expect.objectContaining({ phase: 'version_check', state: 'done', detail: '1.7.0, by its package.json' }),
  )
})

test('an agent that starts to serve instead of printing its version is ended after the time limit', async () => {
  const host = hostOf()
  program(host.bin, 'agent-tool', `#!/bin/sh\nsleep 300\n`)
  program(host.bin, 'brew', '#!/bin/sh\nexit 1\n')
  const { events } = await install(check({ timeout_ms: 200 }), host)
  expect(events).toContainEqual({ type: 'warning', message: expect.stringContaining('it took too long') })
})

test('a catastrophic expression cannot hang the host', async () => {
  const host = hostOf()
  program(host.bin, 'agent-tool', `#!/bin/sh\necho ${'a'.repeat(50)}\n`)
  program(host.bin, 'brew', '#!/bin/sh\nexit 1\n')
  const started = performance.now()
  const { events } = await install(check({ parse: '^((?:a+)+)$x' }), host)
  expect(events).toContainEqual({ type: 'warning', message: expect.stringContaining('did not finish within') })
  expect(performance.now() - started).toBeLessThan(12_000)
})

test('the version command is split like a shell would, and no shell sees it', async () => {
  const host = hostOf()
  program(host.bin, 'agent-tool', '#!/bin/sh\nfor each in "$@"; do echo "[$each]"; done\necho 1.0.0\n')
  const cmd = `agent-tool 'a b' "c $HOME" d\\ e; touch ${host.home}/mark \`id\``
  const { events } = await install(check({ cmd, parse: '(\\d\\.\\d\\.\\d)$' }), host)
  expect(events.at(-1)).toMatchObject({ state: { version: '1.0.0' } })
  expect(existsSync(join(host.home, 'mark'))).toBe(false)
})
