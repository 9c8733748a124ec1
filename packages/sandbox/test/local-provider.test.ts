import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { SessionSandbox } from '@agentproto/contracts'
import { createSandboxes } from '@agentproto/sandbox'
import type { ConfinementProfile, SandboxRequest } from '@agentproto/sandbox'
import { expect, onTestFinished, test, vi } from 'vitest'
import { needs } from '../../../tooling/needs.js'
import { findBubblewrap } from '../src/bubblewrap.js'
import { folder, profileOf, requestOf, run } from './confining.ts'

// CI installs bubblewrap. Elsewhere these tests assert what a host without it says, which is as much a promise.
const bubblewrap = await findBubblewrap(process.env['PATH'] ?? '')
const WORKSPACE = { source: 'workspace', at: '/workspace', mode: 'read-write' } as const

interface Outcome {
  readonly sandbox: SessionSandbox
  /** What the confined program printed; absent where nothing confines, and nothing was run. */
  readonly stdout?: string
}

async function confined(profile: ConfinementProfile, request: SandboxRequest): Promise<Outcome> {
  const { sandbox, launch, release } = await createSandboxes().confine(profile, request)
  onTestFinished(release)
  if (!sandbox.enforced) return { sandbox }
  return { sandbox, stdout: (await run(launch)).stdout }
}

/** What must come of it: what was printed, or, on a host without bubblewrap, the plain word that nothing is enforced. */
const held = (stdout: unknown): unknown =>
  bubblewrap.file === undefined
    ? { sandbox: { provider: 'local', enforced: false, reason: bubblewrap.reason } }
    : { sandbox: { provider: 'local', enforced: true }, stdout }

test('F82 an agent that tries to write outside its mounts fails, by any path and also as root', async () => {
  const [workspace, outside] = [folder(), folder()]
  writeFileSync(join(outside, 'there'), 'as it was')
  const attempts = [
    `echo in > ${workspace}/in`,
    `echo in > /workspace/alias`,
    `echo out > ${outside}/new`,
    `echo out > ${outside}/there`,
    `echo out > ${workspace}/../${outside.split('/').at(-1)}/new`,
    `ln -s ${outside} link; echo out > link/new`,
    `echo out > /etc/agentproto-escape`,
    `echo out > /agentproto-escape`,
    `mount -o remount,rw /etc && echo out > /etc/agentproto-escape`,
    `unshare -Ur mount -o remount,rw /etc`,
    `echo out > /proc/${process.pid}/comm`,
  ]
  const script = attempts.map((attempt) => `(${attempt}) 2>/dev/null && echo did || echo failed`).join('\n')
  const outcome = await confined(profileOf({ mounts: [WORKSPACE] }), requestOf(workspace, ['/bin/sh', '-c', script]))
  expect(outcome).toEqual(held('did\n'.repeat(2) + 'failed\n'.repeat(attempts.length - 2)))
  const inside = [existsSync(join(workspace, 'in')), existsSync(join(workspace, 'alias'))]
  expect(inside).toEqual([outcome.sandbox.enforced, outcome.sandbox.enforced])
  expect([existsSync(join(outside, 'new')), existsSync('/etc/agentproto-escape')]).toEqual([false, false])
  expect(readFileSync(join(outside, 'there'), 'utf8')).toBe('as it was')
})

test('F82 without a network block nothing is reachable, and a proxy variable does not change that', async () => {
  const { port } = await httpServer('reached')
  const script = `
    const asks = ['http://127.0.0.1:${port}/', 'http://localhost:${port}/'].map((url) => fetch(url).then((r) => r.text(), () => 'cut'))
    console.log((await Promise.all(asks)).join(' '))`
  const request = requestOf(folder(), [process.execPath, '--input-type=module', '-e', script])
  expect(await confined(profileOf({ mounts: [WORKSPACE] }), request)).toEqual(held('cut cut\n'))
})

test('a listed host is reached through the proxy, any other is refused by name', async () => {
  const listed = await httpServer('reached')
  const other = await httpServer('never')
  const script = `
    import { request } from 'node:http'
    const ask = (url) => new Promise((resolve) => {
      const { hostname, port } = new URL(process.env.HTTP_PROXY)
      const asked = request({ hostname, port, path: url }, async (response) => {
        let text = ''
        for await (const chunk of response) text += chunk
        resolve(response.statusCode + ' ' + text.trim())
      })
      asked.on('error', (error) => resolve(error.code)).end()
    })
    const direct = (url) => fetch(url).then((r) => r.text(), () => 'cut')
    console.log([
      await ask('http://127.0.0.1:${listed.port}/'),
      await ask('http://127.0.0.1:${other.port}/'),
      await ask('http://example.test/'),
      await direct('http://127.0.0.1:${listed.port}/'),
      await direct('http://127.0.0.1:${other.port}/'),
    ].join('\\n'))`
  const profile = profileOf({ network: { egress: [`127.0.0.1:${listed.port}`, '*.test.invalid'], ingress: [] } })
  const lines = [
    '200 reached',
    `403 http://127.0.0.1:${other.port}/ is not in the sandbox's network.egress`,
    `403 http://example.test/ is not in the sandbox's network.egress`,
    'reached',
    'cut\n',
  ]
  const request = requestOf(folder(), [process.execPath, '--input-type=module', '-e', script])
  expect(await confined(profile, request)).toEqual(held(lines.join('\n')))
})

test('the gateway’s state is hidden, a private home is visible, and what fs denies is hidden', async () => {
  const [workspace, state] = [folder(), folder()]
  mkdirSync(join(state, 'homes/a'), { recursive: true })
  writeFileSync(join(state, 'token'), 'secret')
  writeFileSync(join(workspace, '.env'), 'secret')
  writeFileSync(join(workspace, 'plain'), 'plain')
  const script = `cat ${state}/token .env plain 2>/dev/null; echo x > ${state}/homes/a/kept; echo x > ${state}/other || true; ls ${state}`
  const profile = profileOf({ mounts: [WORKSPACE], fs: { read: [], write: [], deny: ['.env'] } })
  const request = requestOf(workspace, ['/bin/sh', '-c', script], {
    hidden: [state],
    writable: [join(state, 'homes/a')],
  })
  const outcome = await confined(profile, request)
  expect(outcome).toEqual(held('plainhomes\n'))
  expect(existsSync(join(state, 'homes/a/kept'))).toBe(outcome.sandbox.enforced)
  expect(existsSync(join(state, 'other'))).toBe(false)
})

test(
  '13.4 an agent in a worktree can commit; settings, hooks and other worktrees are not its to write',
  needs('git'),
  async () => {
    const [state, repo] = [realpathSync(folder()), realpathSync(folder())]
    const git = (...args: string[]): string => execFileSync('git', ['-C', repo, ...args], { encoding: 'utf8' }).trim()
    git('init', '-q', '-b', 'main')
    for (const [key, value] of [
      ['user.name', 'A'],
      ['user.email', 'a@b'],
    ] as const)
      git('config', key, value)
    mkdirSync(join(repo, 'src'))
    writeFileSync(join(repo, 'src/a'), 'a')
    git('add', '-A')
    git('commit', '-qm', 'first')
    const [one, other] = [join(state, 'one'), join(state, 'other')]
    git('worktree', 'add', '-q', '-b', 'one', one)
    git('worktree', 'add', '-q', '-b', 'other', other)
    writeFileSync(join(state, 'token'), 'secret')
    const common = join(repo, '.git')
    const own = join(common, 'worktrees/one')
    const writable = [...['objects', 'refs', 'logs'].map((name) => join(common, name)), own]
    const repository = { worktree: one, readable: [common], writable }
    const closed = [
      `${common}/config`,
      `${common}/hooks/post-commit`,
      `${common}/worktrees/other/HEAD`,
      `${common}/x`,
      `${repo}/src/a`,
    ]
    const script = [
      'echo b > b; git add -A; git commit -qm second; git log -1 --format=%s',
      ...closed.map((path) => `(echo x >> ${path}) 2>/dev/null && echo wrote ${path}`),
      `cat ${state}/token ${other}/src/a 2>/dev/null; ls ${state}`,
    ].join('\n')
    const before = readFileSync(join(common, 'config'), 'utf8')
    const request = requestOf(join(one, 'src'), ['/bin/sh', '-c', script], { hidden: [state], repository })
    const outcome = await confined(profileOf({ mounts: [WORKSPACE] }), request)
    expect(outcome).toEqual(held('second\none\n'))
    expect(git('log', '-1', '--format=%s', 'one')).toBe(outcome.sandbox.enforced ? 'second' : 'first')
    expect(readFileSync(join(common, 'config'), 'utf8')).toBe(before)
    // Where the working directory is read-only, so is all of it.
    const readOnly = profileOf({ mounts: [{ ...WORKSPACE, mode: 'read-only' }] })
    const write = `(echo x > ${one}/c) 2>/dev/null && echo wrote; (echo x > ${common}/refs/heads/x) 2>/dev/null && echo wrote; true`
    expect(
      await confined(readOnly, requestOf(join(one, 'src'), ['/bin/sh', '-c', write], { hidden: [state], repository })),
    ).toEqual(held(''))
  },
)

test('with fs.read only named paths and what programs need are visible', async () => {
  const [workspace, named, other] = [folder(), folder(), folder()]
  for (const at of [workspace, named, other]) writeFileSync(join(at, 'file'), at)
  const script = `cat ${named}/file ${other}/file ${workspace}/file 2>/dev/null; echo out > ${named}/file 2>/dev/null; true`
  const profile = profileOf({ fs: { read: [`${named}/**`], write: ['./**'], deny: [] } })
  expect(await confined(profile, requestOf(workspace, ['/bin/sh', '-c', script]))).toEqual(held(named + workspace))
})

test('files and texts are mounted where the profile says', async () => {
  const [workspace, manifests] = [folder(), folder()]
  writeFileSync(join(manifests, 'rules.md'), 'rules')
  const profile = profileOf({
    mounts: [
      { source: { file: './rules.md' }, at: '/tmp/rules.md', mode: 'read-only' },
      { source: { inline: 'text' }, at: '/agent/text', mode: 'read-only' },
    ],
  })
  const request = requestOf(workspace, ['/bin/sh', '-c', 'cat /tmp/rules.md /agent/text'], {
    manifestDirectory: manifests,
  })
  expect(await confined(profile, request)).toEqual(held('rulestext'))
})

test('what a profile requires of files and cannot be enforced is a gap with its reason', async () => {
  const profile = profileOf({
    mounts: [WORKSPACE],
    fs: { read: [], write: ['src/*.ts'], deny: [] },
    exec: { allow: false, spawn: [] },
  })
  const request = requestOf(folder(), ['/bin/true'])
  const { sandbox, warnings, release } = await createSandboxes().confine(profile, request)
  onTestFinished(release)
  const gap = '`src/*.ts` in fs is neither a path nor a path with /**; exec: bubblewrap does not distinguish programs'
  const reason = bubblewrap.reason ?? gap
  expect(sandbox).toEqual({ provider: 'local', enforced: false, reason })
  expect(warnings.slice(0, 1)).toEqual([`Not confined as required: ${reason}`])
})

test('F88 the egress proxy works with a temporary folder with a long name', async () => {
  const long = join(folder(), 'x'.repeat(120))
  mkdirSync(long)
  vi.stubEnv('TMPDIR', long)
  onTestFinished(() => void vi.unstubAllEnvs())
  const profile = profileOf({ network: { egress: ['example.test'], ingress: [] } })
  expect(await confined(profile, requestOf(folder(), ['/bin/echo', 'started']))).toEqual(held('started\n'))
})

async function httpServer(answer: string): Promise<AddressInfo> {
  const server = createServer((_request, response) => response.end(answer))
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return server.address() as AddressInfo
}
