import { join } from 'node:path'
import { expect, test } from 'vitest'
import { folder, hostOf, install, methodsOf, program, textAt, versionProgram } from './test-host.ts'
import { npmRegistry } from './npm-registry.ts'

const tool = (range: string) => ({
  bin: 'pinned-tool',
  install: [{ method: 'npm' as const, package: 'pinned-tool@2.1.0' }],
  version_check: { cmd: 'pinned-tool --version', parse: '(\\d+\\.\\d+\\.\\d+)', range },
})

const npmHost = async (versions: readonly string[]) => {
  const { url } = await npmRegistry('pinned-tool', versions)
  return hostOf({ env: { ...process.env, npm_config_registry: url } })
}

test(
  '14.3.4 the version that was tested is installed, and the newest only on request',
  { timeout: 60_000 },
  async () => {
    const host = await npmHost(['2.1.0', '2.2.3'])
    expect((await install(tool('^2.0.0'), host)).events.at(-1)).toMatchObject({ state: { version: '2.1.0' } })
    // It replaces what is installed.
    const newest = await install(tool('^2.0.0'), host, { latest: true })
    expect(newest.events.at(-1)).toMatchObject({ state: { version: '2.2.3', versionOk: true } })
    expect(methodsOf(newest)[0]).toContain('pinned-tool@latest')
  },
)

test(
  '14.3.4 a newest version that the manifest does not accept is replaced by the tested one',
  { timeout: 60_000 },
  async () => {
    const host = await npmHost(['2.1.0', '3.0.0'])
    const outcome = await install(tool('^2.0.0'), host, { latest: true })
    expect(outcome.events).toContainEqual({
      type: 'warning',
      message: 'The version does not match: 3.0.0 is not in ^2.0.0',
    })
    expect(outcome.events.at(-1)).toMatchObject({ state: { version: '2.1.0', versionOk: true } })
  },
)

test.each([
  ['agent-tool', '>=1.0.0 <2.0.0', false, 'agent-tool>=1.0.0,<2.0.0'],
  ['agent-tool[acp]', '>=1.0.0 <2.0.0', false, 'agent-tool[acp]>=1.0.0,<2.0.0'],
  ['agent-tool==1.2.3', '>=1.0.0 <2.0.0', false, 'agent-tool==1.2.3'],
  ['agent-tool', '^1.0.0', false, 'agent-tool'],
  ['agent-tool==1.2.3', '>=1.0.0 <2.0.0', true, 'agent-tool'],
] as const)('14.3.4 pip installs %s in %s, newest: %s, as %s', async (name, range, latest, spec) => {
  const host = hostOf({ env: { PATH: folder('bin') } })
  const bin = host.env['PATH'] ?? ''
  const body = `#!/bin/sh\necho "$*" >> ${join(bin, 'calls')}\nprintf '%s' '${versionProgram('1.2.3')}' > ${bin}/agent-tool\n/bin/chmod +x ${bin}/agent-tool\n`
  program(bin, 'pip3', body)
  const manifest = {
    install: [{ method: 'pip' as const, package: name, user: true }],
    version_check: { cmd: 'agent-tool --version', parse: '(\\d+\\.\\d+\\.\\d+)', range },
  }
  const outcome = await install(manifest, host, { latest })
  expect(outcome.error).toBeUndefined()
  expect(textAt(join(bin, 'calls')).trim().split(' ').at(-1)).toBe(spec)
})
