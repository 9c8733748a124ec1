import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSandboxes } from '@agentproto/sandbox'
import type { ConfinementProfile, SandboxRequest } from '@agentproto/sandbox'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { findBubblewrap } from '../src/bubblewrap.js'
import { folder, profileOf, requestOf, run } from './confining.ts'

const confines = (await findBubblewrap(process.env['PATH'] ?? '')).file !== undefined
const WORKSPACE = { source: 'workspace', at: '/workspace', mode: 'read-write' } as const
const NETWORK = { network: { egress: [], ingress: [] } }

// It only looks: a kernel setting is never written, whatever the result. `-w` asks the kernel, as a write would.
const LOOK = `
  find -L /proc/sys /proc/sysrq-trigger /proc/irq /proc/bus /proc/fs /sys -maxdepth 4 -writable -not -type l 2>/dev/null | head -n 3
  test -w /proc/sys/kernel/core_pattern && echo core_pattern
  test -w /sys && echo sys
  grep -E '^Cap(Inh|Prm|Eff|Amb):.*[1-9a-f]|^NoNewPrivs:.*0' /proc/self/status
  grep -v -c 'lo:' /proc/net/dev | grep -v '^2$'
  true`

/** A folder with an owner's token, as agentproto's home has it, and a workspace beside it. */
function places(): { readonly parent: string; readonly home: string; readonly cwd: string } {
  const parent = folder()
  const [home, cwd] = [join(parent, 'home'), join(parent, 'work')]
  mkdirSync(join(home, 'adapters/own'), { recursive: true })
  mkdirSync(cwd)
  writeFileSync(join(home, 'token'), 'agp_the_token')
  writeFileSync(join(home, 'adapters/own/rules.md'), 'rules')
  writeFileSync(join(cwd, '.env'), 'agp_the_env')
  return { parent, home, cwd }
}

interface Outcome {
  readonly enforced: boolean
  readonly stdout: string
  readonly warnings: readonly string[]
}

async function confined(profile: ConfinementProfile, request: SandboxRequest): Promise<Outcome> {
  const { sandbox, launch, warnings, release } = await createSandboxes().confine(profile, request)
  onTestFinished(release)
  return { enforced: sandbox.enforced, stdout: (await run(launch)).stdout, warnings }
}

describe.runIf(confines)('what holds in every sandbox', () => {
  test.each([
    ['a network block alone', NETWORK],
    ['mounts', { mounts: [WORKSPACE] }],
    ['fs', { fs: { read: ['/usr/**'], write: [], deny: [] } }],
  ])('12.A2 with %s, no kernel setting is writable and no capability is left, as root too', async (_, more) => {
    const { cwd } = places()
    expect(await confined(profileOf(more), requestOf(cwd, ['/bin/sh', '-c', LOOK]))).toMatchObject({
      enforced: true,
      stdout: '',
    })
  })

  test('12.A2 with a network block alone, the home is hidden and what belongs to the agent is not', async () => {
    const { home } = places()
    const [cwd, own] = [join(home, 'worktree'), join(home, 'homes/a')]
    for (const path of [cwd, own]) mkdirSync(path, { recursive: true })
    const script = `cat ${home}/token; ls ${home}; echo x > ${cwd}/x && echo x > ${own}/x && echo wrote; echo x > ${home}/y || echo kept`
    const request = requestOf(cwd, ['/bin/sh', '-c', script], { hidden: [home], writable: [own] })
    expect(await confined(profileOf(NETWORK), request)).toMatchObject({
      enforced: true,
      stdout: 'homes\nworktree\nwrote\nkept\n',
    })
  })

  test.each<[string, (at: ReturnType<typeof places>) => Partial<ConfinementProfile>]>([
    [
      'a mount of a parent',
      ({ parent }) => ({ mounts: [{ source: { file: parent }, at: '/tmp/m', mode: 'read-write' }] }),
    ],
    ['a mount of the root', () => ({ mounts: [{ source: { file: '/' }, at: '/tmp/m', mode: 'read-write' }] })],
    ['a mount of it', ({ home }) => ({ mounts: [{ source: { file: home }, at: '/tmp/m', mode: 'read-only' }] })],
    [
      'a mount of a file',
      ({ home }) => ({ mounts: [{ source: { file: `${home}/token` }, at: '/tmp/m', mode: 'read-only' }] }),
    ],
    [
      'a mount through a link',
      ({ cwd }) => ({ mounts: [{ source: { file: `${cwd}/link` }, at: '/tmp/m', mode: 'read-only' }] }),
    ],
    ['fs.read', ({ home }) => ({ fs: { read: [`${home}/**`], write: [], deny: [] } })],
    ['fs.write of a parent', ({ parent }) => ({ fs: { read: [], write: [`${parent}/**`], deny: [] } })],
    ['fs.read of the root', () => ({ fs: { read: ['/**', '/'], write: [], deny: [] } })],
  ])('12.A2 %s does not open the home', async (_, profileFor) => {
    const at = places()
    const { parent, home, cwd } = at
    symlinkSync(home, join(cwd, 'link'))
    const script = `grep -rs agp_the_token ${parent} /tmp/m${parent} /tmp/m --include=token; echo x > ${home}/y; cat /tmp/m/token /tmp/m; true`
    const request = requestOf(cwd, ['/bin/sh', '-c', script], { hidden: [home] })
    expect((await confined(profileOf({ mounts: [WORKSPACE], ...profileFor(at) }), request)).stdout).toBe('')
  })

  test('12.A2 a home behind a link is hidden at both paths', async () => {
    const { parent, home, cwd } = places()
    symlinkSync(home, join(parent, 'link'))
    const request = requestOf(cwd, ['/bin/sh', '-c', `cat ${home}/token ${parent}/link/token; true`], {
      hidden: [join(parent, 'link')],
    })
    expect((await confined(profileOf(NETWORK), request)).stdout).toBe('')
  })

  test('12.A2 kernel file systems cannot be mounted, by any path', async () => {
    const { cwd } = places()
    const sources = ['/proc/sys', '/proc', '/sys', '/proc/self/root/proc/sys', '/']
    const mounts = sources.map(
      (file, index) => ({ source: { file }, at: `/tmp/k${index}`, mode: 'read-write' }) as const,
    )
    const look =
      'for f in /tmp/k*/kernel/core_pattern /tmp/k*/sys/kernel/core_pattern /tmp/k*/proc/sys/kernel/core_pattern; do test -e $f && echo $f; done; true'
    const { stdout, warnings } = await confined(
      profileOf({ mounts: [WORKSPACE, ...mounts] }),
      requestOf(cwd, ['/bin/sh', '-c', look]),
    )
    expect(stdout).toBe('')
    expect(warnings.filter((warning) => warning.includes('closed to agents'))).toHaveLength(4)
  })

  test('12.A2 a file of the adapter’s own folder in the home can be mounted', async () => {
    const { home, cwd } = places()
    const mounts = [WORKSPACE, { source: { file: './rules.md' }, at: '/tmp/r', mode: 'read-only' } as const]
    const request = requestOf(cwd, ['/bin/cat', '/tmp/r'], {
      hidden: [home],
      manifestDirectory: join(home, 'adapters/own'),
    })
    expect(await confined(profileOf({ mounts }), request)).toMatchObject({ enforced: true, stdout: 'rules' })
  })

  test('12.A2 a script in the home that a manifest names is not shown', async () => {
    const { home, cwd } = places()
    const log = join(home, 'sessions/one/events.js')
    mkdirSync(join(home, 'sessions/one'), { recursive: true })
    writeFileSync(log, 'console.log("agp_the_log")')
    const request = requestOf(cwd, [process.execPath, log], { hidden: [home] })
    for (const more of [NETWORK, { mounts: [WORKSPACE] }])
      expect((await confined(profileOf(more), request)).stdout).toBe('')
  })

  test('12.A2 what fs denies is hidden at every path that leads to it', async () => {
    const { cwd } = places()
    const profile = profileOf({ mounts: [WORKSPACE], fs: { read: [], write: [], deny: ['.env'] } })
    const request = requestOf(cwd, ['/bin/sh', '-c', `cat ${cwd}/.env /workspace/.env; true`])
    expect(await confined(profile, request)).toMatchObject({ enforced: true, stdout: '' })
  })

  test('12.A2 a user namespace of the agent’s own opens nothing', async () => {
    const { home, cwd } = places()
    const script = `
      unshare -U --keep-caps true && echo namespace
      unshare -Urm sh -c 'umount ${home}; umount -l ${home}; cat ${home}/token'
      unshare -Urmpf sh -c 'mount -t proc proc /tmp && test -w /tmp/sys/kernel/core_pattern && echo proc'
      unshare -Urm sh -c 'mount -o remount,rw /proc; mount -o remount,bind,rw /sys; umount -l /proc/sys; test -w /proc/sys/kernel/core_pattern && echo sys'
      true`
    const request = requestOf(cwd, ['/bin/sh', '-c', script], { hidden: [home] })
    expect(await confined(profileOf(NETWORK), request)).toMatchObject({ enforced: true, stdout: '' })
  })

  test('12.A2 a program called bwrap that does not confine is found out from inside', async () => {
    const bin = folder()
    const file = join(bin, 'bwrap')
    writeFileSync(file, '#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
    chmodSync(file, 0o755)
    vi.stubEnv('PATH', `${bin}:${process.env['PATH'] ?? ''}`)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { home, cwd } = places()
    const request = requestOf(cwd, ['/bin/true'], { hidden: [home] })
    const { sandbox, warnings } = await createSandboxes().confine(profileOf(NETWORK), request)
    expect(sandbox).toMatchObject({ enforced: false, reason: expect.stringMatching(/^net:.* is the host's/) })
    expect(warnings[0]).toContain('Not confined as required')
    const refusing = createSandboxes({ whenUnavailable: 'refuse' }).confine(profileOf(NETWORK), request)
    await expect(refusing).rejects.toMatchObject({ code: 'sandbox_unavailable' })
  })

  test('12.A2 the PATH of the agent does not choose what confines it', async () => {
    const bin = folder()
    for (const name of ['bwrap', 'prlimit']) writeFileSync(join(bin, name), '#!/bin/sh\nexit 1\n', { mode: 0o755 })
    const request = requestOf(places().cwd, ['/bin/echo', 'in'])
    const launch = { ...request.launch, env: { ...request.launch.env, PATH: `${bin}:/usr/bin:/bin` } }
    const profile = profileOf({ ...NETWORK, limits: { memoryMb: 4_000 } })
    expect(await confined(profile, { ...request, launch })).toMatchObject({ enforced: true, stdout: 'in\n' })
  })

  test('12.A2 a library that the agent preloads is not loaded outside of the sandbox', async () => {
    const request = requestOf(places().cwd, ['/bin/sh', '-c', 'echo $LD_PRELOAD $LD_LIBRARY_PATH'])
    const env = { ...request.launch.env, LD_PRELOAD: '/own.so', LD_LIBRARY_PATH: '/own' }
    const { launch, release } = await createSandboxes().confine(profileOf(NETWORK), {
      ...request,
      launch: { ...request.launch, env },
    })
    onTestFinished(release)
    expect(Object.keys(launch.env)).not.toContainEqual(expect.stringMatching(/^LD_/))
    expect((await run(launch)).stdout).toBe('/own.so /own\n')
  })
})

test('12.A2 node-permission is not enforced where agentproto’s own folder can be read', async () => {
  const { home, cwd } = places()
  const script = join(cwd, 'agent.mjs')
  writeFileSync(script, '')
  const request = requestOf(cwd, [process.execPath, script], { hidden: [home] })
  const { sandbox } = await createSandboxes().confine(profileOf({ provider: 'node-permission' }), request)
  expect(sandbox).toMatchObject({ enforced: false, reason: expect.stringContaining('no exceptions') })
})

test('12.C1 a profile that only limits programs is not taken for one that asks for nothing', async () => {
  const profile = profileOf({ exec: { allow: false, spawn: [] } })
  const { sandbox } = await createSandboxes().confine(profile, requestOf(folder(), ['/bin/true']))
  expect(sandbox).toMatchObject({ enforced: false, reason: expect.stringMatching(/exec|bubblewrap/) })
  const refusing = createSandboxes({ whenUnavailable: 'refuse' }).confine(profile, requestOf(folder(), ['/bin/true']))
  await expect(refusing).rejects.toMatchObject({ code: 'sandbox_unavailable' })
})
