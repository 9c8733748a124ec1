import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { cli, folder, serve } from './cli-process.js'
import { needs } from '../../../tooling/needs.ts'

test('doctor reports its checks, and changes nothing', async () => {
  const home = folder()
  await serve(home)
  const { code, stdout } = await cli(['doctor', '--json'], { home })
  const { ok, checks } = JSON.parse(stdout) as { ok: boolean; checks: { id: string; verdict: string }[] }
  expect({ code, ok }).toEqual({ code: 0, ok: true })
  expect(checks.map(({ id }) => id)).toEqual([
    'node',
    'git',
    'disk',
    'port',
    'home',
    'format',
    'permissions',
    'config',
    'worktrees',
    'checkpoints',
    'sizes',
    'leftovers',
    'clock',
    'daemon',
    'keeper',
    'cluster',
    'adapters',
    'engines',
  ])
  expect((await cli(['doctor'], { home })).stdout).toMatch(/^✓ gateway +\S+ at http:.*\d+ ok/ms)
})

test('doctor fails for a file that others can read, and its hint fixes it', async () => {
  const home = folder()
  writeFileSync(join(home, 'token'), 'x')
  chmodSync(join(home, 'token'), 0o644)
  const { code, stdout } = await cli(['doctor'], { home })
  expect(code).toBe(1)
  const command = /Run: (chmod .*)$/m.exec(stdout)?.[1] ?? ''
  execFileSync('sh', ['-c', command])
  expect(statSync(join(home, 'token')).mode & 0o077).toBe(0)
  expect(await cli(['doctor'], { home })).toMatchObject({ code: 0 })
})

const PLANTED = {
  secret: 'planted-secret-value-1',
  variable: 'planted-variable-value-2',
  bearer: 'planted.bearer.value.3',
  password: 'planted-password-4',
  key: 'sk-planted0123456789abcdef',
  privateKey: 'MIIplantedprivatekey5',
}

test('a support bundle contains useful text and none of the planted secrets', async () => {
  const home = folder()
  await cli(['secrets', 'set', 'acme/key', '--store', 'file'], { home, input: PLANTED.secret })
  await serve(home)
  await cli(['sessions', 'start', 'demo', '--label', 'private label', '--cwd', home, '-p', 'private words'], { home })
  mkdirSync(join(home, 'logs'), { recursive: true })
  mkdirSync(join(home, 'crash-bundles'), { recursive: true })
  const said = [
    `using ${PLANTED.secret} and ${PLANTED.variable}`,
    `authorization: Bearer ${PLANTED.bearer}`,
    `{"password": "${PLANTED.password}"} https://me:${PLANTED.password}@example.org/ ${PLANTED.key}`,
    `-----BEGIN RSA PRIVATE KEY-----\n${PLANTED.privateKey}\n-----END RSA PRIVATE KEY-----`,
    `token of the owner: ${readFileSync(join(home, 'token'), 'utf8').trim()}`,
    'an ordinary line that helps',
  ].join('\n')
  writeFileSync(join(home, 'logs', 'daemon.log'), said)
  writeFileSync(join(home, 'crash-bundles', 's_x.json'), JSON.stringify({ stderrTail: said }))
  const env = { ACME_API_KEY: PLANTED.variable }
  const { code, stdout } = await cli(['support-bundle', '--json', '--output', 'help.tar.gz'], { home, env })
  expect(code).toBe(0)
  const { path, files } = JSON.parse(stdout) as { path: string; files: string[] }
  expect(path).toBe(join(home, 'help.tar.gz'))
  expect(statSync(path).mode & 0o777).toBe(0o600)
  expect(files).toEqual([
    'versions.json',
    'doctor.json',
    'daemon.json',
    'sessions.json',
    'config.json',
    'daemon.log',
    'gateway.jsonl',
    'crash-bundles/s_x.json',
  ])
  const text = gunzipSync(readFileSync(path)).toString('utf8')
  const token = readFileSync(join(home, 'token'), 'utf8').trim()
  for (const secret of [...Object.values(PLANTED), token, 'private label', 'private words'])
    expect(text, secret).not.toContain(secret)
  expect(text).toContain('an ordinary line that helps')
  expect(text).toContain('"adapterSlug": "demo"')
  expect(await cli(['support-bundle', '--output', 'help.tar.gz'], { home })).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('--output'),
  })
})

test('tar unpacks a support bundle', needs('tar'), async () => {
  const home = folder()
  const { stdout } = await cli(['support-bundle'], { home })
  execFileSync('tar', ['-xzf', stdout.trim()], { cwd: home })
  expect(JSON.parse(readFileSync(join(home, 'agentproto-support', 'versions.json'), 'utf8'))).toMatchObject({
    node: process.version,
  })
})
