import { fileURLToPath } from 'node:url'
import { systemClock } from '@agentproto/contracts'
import { createSandboxes } from '@agentproto/sandbox'
import type { SandboxProvider } from '@agentproto/sandbox'
import { findExecutable } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { folder, profileOf, requestOf, run } from './confining.ts'

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))
const weak: SandboxProvider = {
  prepare: async (_profile, { launch }) => ({ launch, enforced: false, reason: 'the moon is full', warnings: [] }),
}

test('a bare local profile requires no confinement, and is never refused', async () => {
  const request = requestOf('/tmp', ['/bin/true'])
  const { sandbox, launch, warnings } = await createSandboxes({ whenUnavailable: 'refuse' }).confine(
    profileOf(),
    request,
  )
  expect(sandbox).toEqual({ provider: 'local', enforced: false, reason: 'the manifest asks for no confinement' })
  expect([launch, warnings]).toEqual([request.launch, []])
})

test('read_only permits no command, with any provider', async () => {
  for (const provider of ['local', 'node-permission', 'mastra-e2b']) {
    const confining = createSandboxes().confine(
      profileOf({ provider, readOnly: true }),
      requestOf('/tmp', ['/bin/true']),
    )
    await expect(confining).rejects.toMatchObject({ code: 'sandbox_read_only' })
  }
})

test('F82 what cannot be enforced is a warning, or an error where the policy of the host is refuse', async () => {
  const request = requestOf('/tmp', ['/bin/true'])
  const profile = profileOf({ provider: 'weak' })
  const confined = await createSandboxes({ providers: { weak } }).confine(profile, request)
  expect(confined.sandbox).toEqual({ provider: 'weak', enforced: false, reason: 'the moon is full' })
  expect(confined.warnings).toEqual(['Not confined as required: the moon is full'])
  const refusing = createSandboxes({ providers: { weak }, whenUnavailable: 'refuse' }).confine(profile, request)
  await expect(refusing).rejects.toMatchObject({
    code: 'sandbox_unavailable',
    message: expect.stringContaining('moon'),
  })
})

test('12.C3 identity and policy, which are not read, leave a profile unenforced, or are refused', async () => {
  const request = requestOf('/tmp', ['/bin/true'])
  for (const carried of [{ policy: { ref: './POLICY.md' } }, { identity: { role: 'agent' } }]) {
    const [block] = Object.keys(carried)
    const { sandbox, warnings } = await createSandboxes().confine(profileOf({ carried }), request)
    expect(sandbox).toMatchObject({ enforced: false, reason: expect.stringContaining(`${block}: not read here`) })
    expect(warnings).toEqual([expect.stringContaining('Not confined as required')])
    const refusing = createSandboxes({ whenUnavailable: 'refuse' }).confine(profileOf({ carried }), request)
    await expect(refusing).rejects.toMatchObject({ code: 'sandbox_unavailable' })
  }
})

test('12.C3 what has no effect with a built-in provider is a warning; a registered one gets all of it', async () => {
  const request = requestOf('/tmp', ['/bin/true'])
  const given = {
    config: { cwd: '/work', shell: '/bin/sh' },
    tty: { required: true },
    carried: { lifecycle: {}, policy: {} },
  }
  const { carried: _, ...harmless } = given
  const { warnings } = await createSandboxes().confine(profileOf({ ...harmless, carried: { lifecycle: {} } }), request)
  const blocks = ['config.cwd', 'config.shell', 'lifecycle', 'tty.required']
  expect(warnings).toEqual(blocks.map((block) => `sandbox.${block} has no effect with the provider local`))
  const seen: unknown[] = []
  const own: SandboxProvider = {
    prepare: async (profile, { launch }) => (seen.push(profile), { launch, enforced: true, warnings: [] }),
  }
  const profile = profileOf({ provider: 'own', ...given })
  const confined = await createSandboxes({ providers: { own } }).confine(profile, request)
  expect([confined.sandbox, confined.warnings, seen]).toEqual([{ provider: 'own', enforced: true }, [], [profile]])
})

test('a remote provider that is not registered is an error that says so', async () => {
  const confining = createSandboxes().confine(profileOf({ provider: 'mastra-e2b' }), requestOf('/tmp', ['/bin/true']))
  await expect(confining).rejects.toMatchObject({
    code: 'sandbox_unavailable',
    message: expect.stringContaining('mastra-e2b'),
  })
})

test('F90 a registered module is loaded by its absolute path', async () => {
  const sandboxes = createSandboxes({ providers: { 'mastra-e2b': fixture('provider.mjs') } })
  const { launch, sandbox } = await sandboxes.confine(
    profileOf({ provider: 'mastra-e2b' }),
    requestOf('/tmp', ['/bin/echo']),
  )
  expect(sandbox).toEqual({ provider: 'mastra-e2b', enforced: true })
  expect((await run(launch)).stdout).toBe('mastra-e2b\n')
})

test.each(['no-provider.mjs', 'absent.mjs'])('the module %s is not a provider', async (name) => {
  const confining = createSandboxes({ providers: { x: fixture(name) } }).confine(
    profileOf({ provider: 'x' }),
    requestOf('/tmp', ['/bin/true']),
  )
  await expect(confining).rejects.toMatchObject({ code: 'sandbox_unavailable' })
})

test('a provider that is not ready when the start is cancelled is released when it is', async () => {
  const controller = new AbortController()
  let prepared = (): void => {}
  let released = false
  const slow: SandboxProvider = {
    prepare: (_profile, { launch }) =>
      new Promise((resolve) => {
        prepared = () => resolve({ launch, enforced: true, warnings: [], release: async () => void (released = true) })
      }),
  }
  const request = requestOf('/tmp', ['/bin/true'], { signal: controller.signal, clock: systemClock })
  const confining = createSandboxes({ providers: { slow } }).confine(profileOf({ provider: 'slow' }), request)
  controller.abort()
  await expect(confining).rejects.toMatchObject({ code: 'cancelled' })
  prepared()
  await expect.poll(() => released).toBe(true)
})

test('limits.memory_mb and limits.cpu_ms are enforced, or the session has a warning', async () => {
  const script = `
    const kept = []
    try { for (let i = 0; i < 64; i++) kept.push(Buffer.allocUnsafeSlow(32 << 20)); console.log('had it') }
    catch (error) { console.log('out of memory') }
    for (;;);`
  const request = requestOf(folder(), [process.execPath, '-e', script])
  const profile = profileOf({ limits: { memoryMb: 700, cpuMs: 2_000 } })
  const { launch, warnings, release } = await createSandboxes().confine(profile, request)
  onTestFinished(release)
  const limited = (await findExecutable('prlimit', { path: process.env['PATH'] ?? '' })) !== undefined
  expect(warnings.map((warning) => /no prlimit/.test(warning))).toEqual(limited ? [] : [true])
  // Without a limit the script would not end.
  const ran = limited ? await run(launch) : { stdout: 'out of memory\n', code: 1 }
  expect(ran.stdout).toBe('out of memory\n')
  expect(ran.code).not.toBe(0)
})
