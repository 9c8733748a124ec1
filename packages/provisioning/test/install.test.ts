import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { execFileSync } from 'node:child_process'
import { gzipSync } from 'node:zlib'
import { join } from 'node:path'
import type { DoctorCheck } from '@agentproto/contracts/wire'
import type { AgentCliDocument } from '@agentproto/manifest'
import { createProvisioner } from '@agentproto/provisioning'
import { identify } from '@agentproto/subprocess'
import { expect, test } from 'vitest'
import {
  adapterOf,
  folder,
  hostOf,
  install,
  methodsOf,
  program,
  provision,
  serveFiles,
  textAt,
  versionProgram,
} from './test-host.ts'
import { examineAgent } from '../src/doctor/index.ts'
import { tar } from './archives.ts'
import { npmRegistry } from './npm-registry.ts'

const sha256 = (content: string | Uint8Array): string => createHash('sha256').update(content).digest('hex')

/** A package manager that notes how it was called, and puts the agent where it would be. */
const recorder = (at: string, name: string, target: string): string =>
  program(
    at,
    name,
    `#!/bin/sh\necho "${name} $*" >> ${at}/calls\nmkdir -p ${target}\nprintf '%s' '${versionProgram('1.2.3')}' > ${target}/agent-tool\nchmod +x ${target}/agent-tool\n`,
  )

test.each([
  ['brew', 'brew', {}, 'linux', 'brew install agent-tool'],
  ['apt', 'apt-get', {}, 'linux', 'apt-get install --yes agent-tool'],
  ['dnf', 'dnf', {}, 'linux', 'dnf install --assumeyes agent-tool'],
  ['pacman', 'pacman', {}, 'linux', 'pacman -S --noconfirm --needed agent-tool'],
  ['choco', 'choco', {}, 'win32', 'choco install agent-tool --yes --no-progress'],
  ['scoop', 'scoop', {}, 'win32', 'scoop install agent-tool'],
  [
    'pip',
    'pip3',
    { user: true },
    'linux',
    'pip3 install --disable-pip-version-check --no-input --user agent-tool>=1.0.0,<2.0.0',
  ],
] as const)('%s is run with its real arguments', async (method, tool, more, os, call) => {
  const host = hostOf({ platform: { os, arch: 'x64' } })
  recorder(host.bin, tool, host.bin)
  const outcome = await install({ install: [{ method, package: 'agent-tool', ...more }] }, host)
  expect(outcome.error).toBeUndefined()
  expect(textAt(join(host.bin, 'calls'))).toBe(`${call}\n`)
  expect(outcome.events.at(-1)).toMatchObject({
    type: 'state',
    state: { installed: true, method, version: '1.2.3', versionOk: true, ready: true },
  })
})

test.each([
  ['cargo', /^cargo install --root (\S+) agent-tool\n$/, 'bin'],
  ['go', /^go install agent-tool@latest\n$/, 'bin'],
] as const)('%s installs into the agent’s own prefix', async (method, call, place) => {
  const host = hostOf()
  const target = method === 'go' ? '$GOBIN' : '$3/bin'
  recorder(host.bin, method, target)
  const { error } = await install({ install: [{ method, package: 'agent-tool' }] }, host)
  expect(error).toBeUndefined()
  expect(textAt(join(host.bin, 'calls'))).toMatch(call)
  expect(existsSync(join(host.home, 'agents/tool', place, 'agent-tool'))).toBe(true)
})

test('pip makes a virtual environment in the agent’s own prefix', async () => {
  const host = hostOf()
  const python = `#!/bin/sh\necho "$0 $*" >> ${host.bin}/calls\nmkdir -p $3/bin\ncp ${host.bin}/venv-python $3/bin/python\n`
  program(host.bin, 'python3', python)
  recorder(host.bin, 'venv-python', '$(dirname $0)')
  expect((await install({ install: [{ method: 'pip', package: 'agent-tool' }] }, host)).error).toBeUndefined()
  const venv = join(host.home, 'agents/tool/venv')
  expect(textAt(join(host.bin, 'calls'))).toBe(
    `${host.bin}/python3 -m venv ${venv}\nvenv-python -m pip install --disable-pip-version-check --no-input agent-tool>=1.0.0,<2.0.0\n`,
  )
  expect(existsSync(join(venv, 'bin/agent-tool'))).toBe(true)
})

test('18.2 uv installs a Python package into the agent’s own prefix, and without uv the next method is tried', async () => {
  const host = hostOf()
  const methods = [
    { method: 'uv', package: 'agent-tool==1.2.3', experimental: true },
    { method: 'brew', package: 'agent-tool' },
  ]
  recorder(host.bin, 'brew', host.bin)
  expect(methodsOf(await install({ install: methods }, host))[0]).toBe('uv skipped: there is no uv on PATH')
  recorder(host.bin, 'uv', '$UV_TOOL_BIN_DIR')
  const metadata = { agentproto: { python: '>=3.11.0 <3.14.0' } }
  const outcome = await install({ install: methods, metadata }, host, { force: true })
  expect(outcome.error).toBeUndefined()
  expect(textAt(join(host.bin, 'calls')).split('\n')[1]).toBe(
    'uv tool install --no-progress --python >=3.11.0,<3.14.0 agent-tool==1.2.3',
  )
  expect(existsSync(join(host.home, 'agents/tool/bin/agent-tool'))).toBe(true)
})

/** Shell text of a Python that prints its version, and makes virtual environments with `venv-python`. */
const pythonProgram = (at: string, version: string): string =>
  [
    '#!/bin/sh',
    `if [ "$1" = --version ]; then echo "Python ${version}"; exit; fi`,
    `echo "${version} $*" >> ${at}/calls`,
    '[ "$2" = venv ] || exit 0',
    `/bin/mkdir -p $3/bin`,
    `/bin/cp ${at}/venv-python $3/bin/python`,
  ].join('\n')

const needsPython = (range: string, user = false): Partial<AgentCliDocument> => ({
  install: [{ method: 'pip', package: 'agent-tool', user }],
  metadata: { agentproto: { python: range } },
})

test('12.C8 pip uses a Python that the agent runs on, and is skipped where there is none', async () => {
  const bin = folder('bin')
  const host = hostOf({ env: { PATH: bin } })
  for (const [name, version] of [
    ['python3', '3.10.2'],
    ['python3.12', '3.12.7'],
    ['python3.15', '3.15.0rc1'],
  ] as const)
    program(bin, name, pythonProgram(bin, version))
  program(
    bin,
    'venv-python',
    `#!/bin/sh\nprintf '%s' '${versionProgram('1.2.3')}' > \${0%/*}/agent-tool\n/bin/chmod +x \${0%/*}/agent-tool\n`,
  )
  expect(methodsOf(await install(needsPython('>=3.13.0 <3.15.0'), host))).toEqual([
    expect.stringMatching(/^pip skipped: it needs a Python in >=3\.13\.0 <3\.15\.0, and on PATH there is 3\.10\.2, /),
  ])
  expect((await install(needsPython('>=3.11.0 <3.15.0'), host)).error).toBeUndefined()
  await install(needsPython('>=3.11.0 <3.15.0', true), host, { force: true })
  const calls = textAt(join(bin, 'calls')).trim().split('\n')
  expect(calls).toEqual([
    `3.12.7 -m venv ${join(host.home, 'agents/tool/venv')}`,
    '3.12.7 -m pip install --disable-pip-version-check --no-input --user agent-tool>=1.0.0,<2.0.0',
  ])
})

test('12.C8 the doctor compares the Python of an installed agent with its range', async () => {
  const host = hostOf()
  const { bin } = host
  program(bin, 'python3', '#!/bin/sh\n[ "$1" = --version ] && echo "Python 3.10.2" || echo "tool 1.2.3"\n')
  const adapter = await adapterOf(needsPython('>=3.11.0'))
  const checksOf = async (firstLines: string): Promise<readonly DoctorCheck[]> => {
    program(bin, 'agent-tool', `${firstLines}\n`)
    const checks: DoctorCheck[] = []
    for await (const check of examineAgent({ adapter, host, request: {} })) checks.push(check)
    return checks.filter(({ id }) => id === 'python')
  }
  const fails = [{ verdict: 'fail', declared: '>=3.11.0', found: '3.10.2' }]
  expect(await checksOf(`#!${bin}/python3`)).toMatchObject(fails)
  expect(await checksOf('#!/usr/bin/env python3')).toMatchObject(fails)
  expect(await checksOf(`#!/bin/sh\n'''exec' "${bin}/python3" "$0" "$@"\n' '''`)).toMatchObject(fails)
  expect(await checksOf('#!/bin/sh')).toMatchObject([{ verdict: 'warn' }])
})

test('12.C8 a curl installer says before it runs that it writes outside of the agent’s folder', async () => {
  const host = hostOf()
  const { url } = await serveFiles({ '/install.sh': SCRIPT(join(host.home, 'mark'), host.bin) })
  const document = { install: [{ method: 'curl' as const, url: `${url}/install.sh` }] }
  const outside = expect.stringContaining("also outside of the agent's folder")
  expect(methodsOf(await install(document, host))).toEqual([outside])
  const { events } = await install(document, host, { allowUnverified: true })
  const warned = events.findIndex((event) => event.type === 'warning' && event.message.includes('outside'))
  expect(events[warned]).toEqual({ type: 'warning', message: outside })
  expect(events.findIndex(({ type }) => type === 'method')).toBeGreaterThan(warned)
})

test('npm installs for real, the newest by name, into the agent’s own prefix', { timeout: 60_000 }, async () => {
  const { url } = await npmRegistry('newest-tool', ['2.1.0', '2.2.3'])
  const host = hostOf({ env: { ...process.env, npm_config_registry: url } })
  const tool = {
    bin: 'newest-tool',
    install: [{ method: 'npm' as const, package: 'newest-tool' }],
    version_check: { cmd: 'newest-tool --version', parse: '(\\d+\\.\\d+\\.\\d+)', range: '^2.2.0' },
  }
  const outcome = await install(tool, host)
  expect(outcome.error).toBeUndefined()
  expect(methodsOf(outcome)[0]).toMatch(/^npm started: npm install --prefix \S+ --no-audit .* -- newest-tool@latest$/)
  const executable = join(host.home, 'agents/tool/node_modules/newest-tool/main.js')
  expect(outcome.events.at(-1)).toMatchObject({ state: { method: 'npm', versionOk: true, executable } })
  const again = await install(tool, host)
  expect(again.events).toContainEqual(expect.objectContaining({ phase: 'install', state: 'skipped' }))
  expect(again.events).toContainEqual(expect.objectContaining({ phase: 'version_check', state: 'skipped' }))
  expect(readdirSync(join(host.home, 'agents'))).toEqual(['tool'])
})

test(
  '18.2 npm runs no install script where the manifest skips them, and names the packages',
  { timeout: 60_000 },
  async () => {
    const mark = join(folder('mark'), 'ran')
    const scripts = { preinstall: `touch ${mark}`, postinstall: `touch ${mark}` }
    const { url } = await npmRegistry('scripted-tool', ['1.2.3'], { scripts })
    const host = hostOf({ env: { ...process.env, npm_config_registry: url } })
    const tool = (install_scripts: string, global = false): Partial<AgentCliDocument> => ({
      bin: 'scripted-tool',
      install: [{ method: 'npm', package: 'scripted-tool@1.2.3', global }],
      version_check: { cmd: 'scripted-tool --version', parse: '(\\d+\\.\\d+\\.\\d+)', range: '*' },
      metadata: { agentproto: { install_scripts } },
    })
    for (const global of [false, true]) {
      const { error, events } = await install(tool('skip', global), host, { force: true })
      expect([error, existsSync(mark)]).toEqual([undefined, false])
      const message = expect.stringContaining('The install scripts of scripted-tool@1.2.3 were not run')
      expect(events).toContainEqual({ type: 'warning', message })
    }
    expect((await install(tool('run'), host, { force: true })).events.filter(({ type }) => type === 'warning')).toEqual(
      [],
    )
    expect(existsSync(mark)).toBe(true)
  },
)

/** A manifest that agentproto wrote from an entry of a registry with a file. */
const fromRegistry = (url: string, more: object = {}): Partial<AgentCliDocument> => ({
  bin: 'agent-tool',
  install: [{ method: 'download', url, extract_bin: 'app/agent-tool' }],
  version_check: { cmd: 'agent-tool --version', parse: '(\\d+\\.\\d+\\.\\d+)', range: '*' },
  metadata: {
    agentproto: { unpack: 'all', launch: 'unpacked/app/agent-tool', registry: { version: '1.18.31.1' }, ...more },
  },
})

test('18.2 a program finds what was beside it in its archive, and one that prints no version has that of its entry', async () => {
  const source = '#!/bin/sh\n[ "$1" = --version ] && exit 0\ncat "${0%/*}/lib.txt"\n'
  const archive = await tar([{ name: 'app/agent-tool' }, source], [{ name: 'app/lib.txt' }, 'the library'])
  const { url } = await serveFiles({ '/tool.tgz': gzipSync(archive) })
  const host = hostOf()
  const { error, events } = await install(fromRegistry(`${url}/tool.tgz`), host, { allowUnverified: true })
  expect(error).toBeUndefined()
  const executable = join(host.home, 'agents/tool/unpacked/app/agent-tool')
  expect(events.at(-1)).toMatchObject({ state: { version: '1.18.31.1', versionOk: true, executable } })
  expect(execFileSync(executable, { encoding: 'utf8' })).toBe('the library')
})

test('18.2 an archive without the program of the manifest is not installed, and says what it holds', async () => {
  const { url } = await serveFiles({ '/tool.tar': await tar([{ name: 'app/other-tool' }, 'x']) })
  const host = hostOf()
  const { error } = await install(fromRegistry(`${url}/tool.tar`), host, { allowUnverified: true })
  expect(error?.message).toContain('does not hold the file that the manifest names')
  expect(readdirSync(join(host.home, 'agents'))).toEqual([])
})

test('18.2 an unattended install from a registry refuses a file without a checksum, and shows that of one that it may install', async () => {
  const archive = await tar([{ name: 'app/agent-tool' }, versionProgram('1.2.3')])
  const { url, asked } = await serveFiles({ '/tool.tar': archive })
  const host = hostOf()
  const document = fromRegistry(`${url}/tool.tar`)
  expect(methodsOf(await install(document, host))).toEqual([expect.stringContaining('no checksum')])
  expect(asked).toEqual([])
  const { events } = await install(document, host, { allowUnverified: true })
  expect(events).toContainEqual({ type: 'warning', message: expect.stringContaining(sha256(archive)) })
  expect(events).toContainEqual({
    type: 'download',
    url: `${url}/tool.tar`,
    bytes: archive.length,
    sha256: sha256(archive),
    verified: false,
  })
})

test('each method that cannot be tried gives its reason, and the next one is tried', async () => {
  const host = hostOf()
  program(host.bin, 'brew', '#!/bin/sh\necho "Error: no bottle for this system" >&2\nexit 3\n')
  const outcome = await install(
    {
      install: [
        { method: 'scoop', package: 'agent-tool' },
        { method: 'dnf', package: 'agent-tool' },
        { method: 'brew', package: 'agent-tool' },
        { method: 'nix', package: 'agent-tool', experimental: true },
        { method: 'vendored', path: './nowhere' },
      ],
    },
    host,
  )
  expect(methodsOf(outcome)).toEqual([
    'scoop skipped: scoop is not of linux',
    'dnf skipped: there is no dnf on PATH',
    'brew started: brew install agent-tool',
    'brew failed: brew ended with 3: Error: no bottle for this system.',
    'nix skipped: this version does not support it',
    'vendored skipped: ./nowhere is not there',
  ])
  expect(outcome.events).toContainEqual({ type: 'warning', message: expect.stringContaining('nix') })
  expect(outcome.error).toMatchObject({ code: 'install_failed', parts: { data: { attempts: { length: 5 } } } })
  expect(outcome.error?.message).toContain('dnf was skipped: there is no dnf on PATH')
})

test('what `requires` does not allow is skipped, with what is needed and what there is', async () => {
  const host = hostOf()
  const of = async (requires: object) => methodsOf(await install({ requires }, host))
  expect(await of({ os: ['darwin', 'windows'] })).toEqual(['brew skipped: it runs on darwin, windows, not on linux'])
  expect(await of({ arch: ['arm64'] })).toEqual(['brew skipped: it runs on arm64, not on x64'])
  expect(await of({ min_disk_mb: 10 ** 12 })).toEqual([
    expect.stringMatching(/^brew skipped: it needs 1000000000000 MiB of disk, and \d+ are free$/),
  ])
})

const SCRIPT = (mark: string, bin: string): string =>
  `echo ran > ${mark}\nprintf '%s' '${versionProgram('1.5.0')}' > ${bin}/agent-tool\nchmod +x ${bin}/agent-tool\n`

test('a curl installer with a wrong SHA-256 is never executed', async () => {
  const host = hostOf()
  const mark = join(host.home, 'mark')
  const script = SCRIPT(mark, host.bin)
  const { url } = await serveFiles({ '/install.sh': script })
  const of = (verify_sha256: string) =>
    install({ install: [{ method: 'curl', url: `${url}/install.sh`, verify_sha256 }] }, host)
  const wrong = await of(sha256(`${script} `))
  expect(wrong.error?.message).toContain('does not match its checksum; it was not run')
  expect(existsSync(mark)).toBe(false)
  expect(readdirSync(join(host.home, 'agents'))).toEqual([])
  // The same script with its own sum does run: it is the sum that held it back.
  expect((await of(sha256(script))).error).toBeUndefined()
  expect(textAt(mark)).toBe('ran\n')
})

test('a curl installer without a checksum is not downloaded, unless the request allows it', async () => {
  const host = hostOf()
  const mark = join(host.home, 'mark')
  const { url, asked } = await serveFiles({ '/install.sh': `#!/bin/sh\n${SCRIPT(mark, host.bin)}` })
  const document = { install: [{ method: 'curl' as const, url: `${url}/install.sh` }] }
  expect(methodsOf(await install(document, host))).toEqual([expect.stringContaining('its script cannot be verified')])
  expect(asked).toEqual([])
  const insisted = await install(document, host, { allowUnverified: true })
  expect(insisted.error).toBeUndefined()
  expect(insisted.events).toContainEqual({ type: 'warning', message: expect.stringContaining('is not verified') })
  expect(existsSync(mark)).toBe(true)
})

test('a script that is too large, or is cut off, is not run', async () => {
  const host = hostOf()
  const mark = join(host.home, 'mark')
  const big = `touch ${mark}\n#${'x'.repeat(5 * 1024 * 1024)}`
  const { url } = await serveFiles({ '/big.sh': big })
  const { error } = await install({ install: [{ method: 'curl', url: `${url}/big.sh` }] }, host, {
    allowUnverified: true,
  })
  expect(error?.message).toContain('it is larger than 4 MiB')
  expect(existsSync(mark)).toBe(false)
})

/** One program in every kind of archive that the system can make. */
function archives(): Record<string, Buffer> {
  const at = folder('archive')
  const deep = 'd'.repeat(60)
  mkdirSync(join(at, `release-1.4.0/${deep}/${deep}`), { recursive: true })
  program(join(at, 'release-1.4.0'), 'tool-linux', versionProgram('1.4.0'))
  program(join(at, `release-1.4.0/${deep}/${deep}`), 'deep-tool', versionProgram('1.4.1'))
  writeFileSync(join(at, 'release-1.4.0/README'), 'x'.repeat(700))
  const pack = (name: string, ...args: string[]) => {
    execFileSync('tar', [...args, '-f', name, 'release-1.4.0'], { cwd: at })
    return execFileSync('cat', [name], { cwd: at, maxBuffer: 1e9 })
  }
  execFileSync('python3', ['-c', `import shutil; shutil.make_archive('tool', 'zip', '.', 'release-1.4.0')`], {
    cwd: at,
  })
  const raw = execFileSync('cat', ['release-1.4.0/tool-linux'], { cwd: at })
  return {
    '/tool.tar': pack('a.tar', '-c', '--format=gnu'),
    '/tool.tar.gz': pack('a.tgz', '-cz', '--format=pax'),
    '/tool.tar.xz': pack('a.txz', '-cJ', '--format=ustar'),
    '/tool.zip': execFileSync('cat', ['tool.zip'], { cwd: at }),
    '/tool': raw,
    '/tool.gz': execFileSync('gzip', ['-c', 'release-1.4.0/tool-linux'], { cwd: at }),
  }
}

test('a download is installed from every kind of archive', async () => {
  const files = archives()
  const { url } = await serveFiles(files)
  for (const [path, content] of Object.entries(files)) {
    const host = hostOf()
    const method = {
      method: 'download' as const,
      url: url + path,
      extract_bin: 'tool-linux',
      verify_sha256: sha256(content),
    }
    const outcome = await install({ install: [method] }, host)
    expect([path, outcome.error?.message]).toEqual([path, undefined])
    const file = join(host.home, 'agents/tool/bin/agent-tool')
    expect(outcome.events.at(-1)).toMatchObject({ state: { executable: file, version: '1.4.0' } })
    expect(statSync(file).mode & 0o777).toBe(0o755)
    expect(readdirSync(join(host.home, 'agents'))).toEqual(['tool'])
  }
})

test('a download finds a file by its whole path, long names too, and says what there is when it is not there', async () => {
  const files = archives()
  const { url } = await serveFiles(files)
  const deep = 'd'.repeat(60)
  for (const path of ['/tool.tar', '/tool.tar.gz', '/tool.tar.xz', '/tool.zip']) {
    const of = (extract_bin: string) =>
      install(
        { install: [{ method: 'download', url: url + path, extract_bin, verify_sha256: sha256(files[path] ?? '') }] },
        hostOf(),
      )
    expect((await of(`release-1.4.0/${deep}/${deep}/deep-tool`)).events.at(-1)).toMatchObject({
      state: { version: '1.4.1' },
    })
    expect((await of('other')).error?.message).toContain('release-1.4.0/tool-linux')
  }
})

test.each([
  ['an archive that is cut off', Buffer.from([0x1f, 0x8b, 8, 0, 0, 0])],
  ['a zip that is none', Buffer.from('PK\u0003\u0004 nothing')],
  ['an empty file', Buffer.alloc(0)],
])('%s does not become the agent', async (_, content) => {
  const host = hostOf()
  const { url } = await serveFiles({ '/a': content })
  const { error } = await install(
    { install: [{ method: 'download', url: `${url}/a`, extract_bin: 'x', verify_sha256: sha256(content) }] },
    host,
  )
  expect(['install_failed', 'version_mismatch']).toContain(error?.code)
})

test('a download from the open network needs TLS or a sum', async () => {
  const of = (more: object) =>
    install({ install: [{ method: 'download', url: 'http://example.invalid/a', extract_bin: 'x', ...more }] }, hostOf())
  expect((await of({})).error?.message).toContain('is not protected against changes in transit')
})

test('a vendored file is copied, and only from the manifest’s folder', async () => {
  const host = hostOf()
  const adapter = await adapterOf({
    install: [
      { method: 'vendored', path: './files/tool' },
      { method: 'vendored', path: '../outside' },
    ],
  })
  program(join(adapter.directory, 'files'), 'tool', versionProgram('1.0.1'))
  program(join(adapter.directory, '..'), 'outside', versionProgram('1.0.2'))
  expect((await provision(createProvisioner(adapter, host), { until: 'install' })).events.at(-1)).toMatchObject({
    state: { version: '1.0.1' },
  })
  const second = await adapterOf({ install: [{ method: 'vendored', path: '../outside' }] })
  program(join(second.directory, '..'), 'outside', versionProgram('1.0.2'))
  expect((await provision(createProvisioner(second, hostOf()), { until: 'install' })).error?.message).toContain(
    'outside the folder',
  )
})

test('a failed upgrade leaves the agent that was there', async () => {
  const host = hostOf()
  recorder(host.bin, 'cargo', '$3/bin')
  const document = { install: [{ method: 'cargo' as const, package: 'agent-tool' }] }
  expect((await install(document, host)).error).toBeUndefined()
  program(host.bin, 'cargo', '#!/bin/sh\nexit 1\n')
  expect((await install(document, host, { force: true })).error).toMatchObject({ code: 'install_failed' })
  expect(existsSync(join(host.home, 'agents/tool/bin/agent-tool'))).toBe(true)
  expect(readdirSync(join(host.home, 'agents'))).toEqual(['tool'])
})

test('what an install that was killed left is cleared, and an agent that it moved aside is put back', async () => {
  const host = hostOf()
  const agents = join(host.home, 'agents')
  mkdirSync(join(agents, '.new-tool-0123abcd'), { recursive: true })
  program(join(agents, '.old-tool-0123abcd/bin'), 'agent-tool', versionProgram('1.1.1'))
  mkdirSync(join(agents, '.new-tool-box-0123abcd'))
  program(host.bin, 'brew', '#!/bin/sh\nexit 0\n')
  expect((await install({}, host)).events.at(-1)).toMatchObject({ state: { version: '1.1.1' } })
  expect(readdirSync(agents).toSorted()).toEqual(['.new-tool-box-0123abcd', 'tool'])
})

test('one install at a time: the second is refused', async () => {
  const host = hostOf()
  program(host.bin, 'brew', '#!/bin/sh\nsleep 0.4\n')
  const adapter = await adapterOf({})
  const [first, second] = await Promise.all([
    provision(createProvisioner(adapter, host), { until: 'install' }),
    new Promise((resolve) => setTimeout(resolve, 100)).then(() =>
      provision(createProvisioner(adapter, host), { until: 'install' }),
    ),
  ])
  expect(first.error?.code).toBe('install_failed')
  expect(second.error).toMatchObject({ code: 'provisioning_busy', row: { retryable: true } })
})

test('leaving the iteration ends the installer and everything that it started', async () => {
  const host = hostOf()
  program(host.bin, 'brew', `#!/bin/sh\nsleep 300 &\necho $! > ${host.home}/child\necho started\nwait\n`)
  const provisioner = createProvisioner(await adapterOf({}), host)
  for await (const event of provisioner.run({ until: 'install' })) {
    if (event.type === 'output' && event.line === 'started') break
  }
  const child = Number(textAt(join(host.home, 'child')))
  expect(identify(child)).toBeUndefined()
  // And the lock is free again.
  expect((await provisioner.state()).installed).toBe(false)
})
