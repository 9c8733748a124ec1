import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, folder, type Options } from './cli-process.js'
import { terminal } from './terminal.js'
import { needs } from '../../../tooling/needs.ts'

// From a folder to an agent that is installed, set up and checked, without a gateway.

const aip44 = { acp_rev: '064ee1ffe194cdb14e1d45d66875ce74a14933c3', tier: 'basic' }

/** Writes an adapter with its agent beside the manifest. */
function writeAdapter(more: object = {}): string {
  const at = join(folder('adapter'), 'shop')
  mkdirSync(at)
  const base = { name: 'shop', id: 'shop', description: 'A shop.', version: '1.0.0' }
  const manifest = {
    ...base,
    bin: 'shop-agent',
    install: [{ method: 'vendored', path: './shop-agent' }],
    version_check: { cmd: 'shop-agent --version', parse: '(\\d+\\.\\d+\\.\\d+)', range: '^1.0.0' },
    auth: { ref: './SECRETS.md', state: { paths: ['~/.shop'] } },
    sandbox: { provider: 'local' },
    protocol: 'acp',
    acp: './ACP.md',
    ...more,
  }
  const secret = { slug: 'shop/key', name: 'Key', description: 'A key', exposures: [{ kind: 'env', name: 'SHOP_KEY' }] }
  const write = (name: string, content: unknown) =>
    writeFileSync(join(at, name), `---\n${JSON.stringify(content)}\n---\n`)
  write('AGENT-CLI.md', manifest)
  write('ACP.md', { ...base, kind: 'client', transport: 'stdio', metadata: { aip44 } })
  write('SECRETS.md', { secrets: [secret] })
  writeFileSync(join(at, 'shop-agent'), '#!/bin/sh\necho "shop 1.2.3"\n')
  return at
}

const SETUP = {
  setup: [
    { id: 'url', kind: 'prompt', prompt: 'Where is the shop?', persist: { env: 'SHOP_URL' } },
    { id: 'size', kind: 'prompt', prompt: 'How large?', type: 'select', options: ['small', 'large'] },
    { id: 'key', kind: 'prompt', prompt: 'What is the key?', type: 'secret', persist: { secret_slug: 'shop/key' } },
  ],
}

async function added(more: object = {}): Promise<Options> {
  const options = { home: folder(), env: { HOME: folder('user') } }
  expect(await cli(['adapters', 'add', writeAdapter(more)], options)).toMatchObject({ code: 0, stdout: 'shop\n' })
  return options
}

test('an own adapter is added, installed and shown; with its secret it is ready', async () => {
  const options = await added()
  const before = await cli(['adapters', 'list', '--json'], options)
  expect(JSON.parse(before.stdout).adapters).toContainEqual(
    expect.objectContaining({
      slug: 'shop',
      source: 'user',
      installed: false,
      installHint: 'agentproto adapters install shop',
    }),
  )
  const installed = await cli(['adapters', 'install', 'shop'], options)
  expect(installed).toMatchObject({ code: 0, stdout: '' })
  expect(installed.stderr).toMatch(
    /✓ install +.*agents\/shop\/bin\/shop-agent\n✓ version +1\.2\.3\n! shop 1\.2\.3 is installed, but not logged in/,
  )
  expect(await cli(['secrets', 'set', 'shop/key', '--store', 'file'], { ...options, input: 'k-4711\n' })).toMatchObject(
    { code: 0, stdout: '' },
  )
  const shown = await cli(['adapters', 'show', 'shop'], options)
  expect(shown.stdout).toMatch(/^ {2}secret +shop\/key: set, file → SHOP_KEY$/m)
  expect(shown.stdout).toMatch(/^ {2}ready +yes$/m)
  const again = await cli(['adapters', 'install', 'shop', '--json'], options)
  expect(JSON.parse(again.stdout)).toMatchObject({ slug: 'shop', ready: true, method: 'vendored', version: '1.2.3' })
  expect(again.stderr).toContain('– version')
})

test('a setup without a terminal lists what it needs, and accepts it with --input', async () => {
  const options = await added(SETUP)
  const pending = await cli(['adapters', 'setup', 'shop'], options)
  expect(pending.code).toBe(1)
  expect(pending.stderr).toContain('? url: Where is the shop? (--input url=…)')
  expect(pending.stderr).toContain('? key: What is the key? (--input key=…)')
  const wrong = await cli(['adapters', 'setup', 'shop', '--input', 'url=http://x', '--input', 'size=huge'], options)
  expect([wrong.code, wrong.stderr]).toEqual([2, expect.stringContaining('Expected one of small, large')])
  const done = await cli(
    ['adapters', 'setup', 'shop', '--input', 'size=large', '--input', 'key=k-4711-secret', '--json'],
    options,
  )
  expect(done.code).toBe(0)
  expect(JSON.parse(done.stdout)).toMatchObject({
    setup: [{ id: 'url', state: 'done' }, { state: 'done' }, { state: 'done' }],
  })
  expect(`${done.stdout}${done.stderr}`).not.toContain('k-4711-secret')
  expect(readFileSync(join(options.home, 'provisioning/shop.json'), 'utf8')).not.toContain('k-4711-secret')
})

test('the exit code of adapters doctor is 1 when a check fails', async () => {
  const options = await added()
  const missing = await cli(['adapters', 'doctor', 'shop'], options)
  expect([missing.code, missing.stdout]).toEqual([
    1,
    expect.stringMatching(/^✗ Installed .*\n +→ agentproto adapters install shop\n/m),
  ])
  const demo = await cli(['adapters', 'doctor', 'demo', '--live', '--json'], options)
  expect(demo.code).toBe(0)
  expect(JSON.parse(demo.stdout)).toMatchObject({ slug: 'demo', ok: true })
})

test.each([
  [['adapters', 'install', 'nobody'], 2, 'There is no such adapter'],
  [['adapters', 'add', './nowhere'], 2, 'The source is not an adapter'],
  [['secrets', 'set', 'Not A Slug'], 2, 'The slug of the secret is not valid'],
  [['secrets', 'set', 'acme/key'], 2, 'stdin holds no value'],
  [['secrets', 'set', 'acme/key', 'value'], 2, 'takes 1 argument, not 2'],
  [['secrets', 'rm', 'acme/key'], 4, 'There is no such secret'],
] as const)('%j is refused', async (args, code, message) => {
  const ended = await cli(args, { home: folder() })
  expect([ended.code, ended.stdout]).toEqual([code, ''])
  expect(ended.stderr.toLowerCase()).toContain(message.toLowerCase())
})

test('an invalid adapter is not added, and each problem is reported', async () => {
  const options = { home: folder() }
  const ended = await cli(['adapters', 'add', writeAdapter({ protocol: 'smoke', bin: '' })], options)
  expect(ended.code).toBe(2)
  expect(ended.stderr).toContain('protocol')
  expect(JSON.parse((await cli(['adapters', 'list', '--json'], options)).stdout).adapters).not.toContainEqual(
    expect.objectContaining({ slug: 'shop' }),
  )
})

test('OAuth tokens are accepted with their OAuth names', async () => {
  const options = { home: folder() }
  const input = '{"access_token":"at-4711-long","refresh_token":"rt-4711-long","expires_at":"2027-01-31T12:00:00Z"}'
  expect(
    await cli(['secrets', 'set', 'acme/login', '--oauth', '--store', 'file'], { ...options, input }),
  ).toMatchObject({ code: 0 })
  const { secrets } = JSON.parse((await cli(['secrets', 'list', '--json'], options)).stdout)
  expect(secrets).toContainEqual(
    expect.objectContaining({ slug: 'acme/login', kind: 'oauth', expiresAt: '2027-01-31T12:00:00Z' }),
  )
  expect(JSON.stringify(secrets)).not.toContain('4711')
})

test('at a terminal an install continues with the setup, which asks and hides secrets', needs('tmux'), async () => {
  const { home } = await added(SETUP)
  const screen = terminal(['adapters', 'install', 'shop'], home)
  await screen.shows(/Where is the shop\?/)
  screen.type('http://shop')
  screen.press('Enter')
  await screen.shows(/1 small\s+2 large/)
  screen.type('2')
  screen.press('Enter')
  await screen.shows(/What is the key\?/)
  screen.type('k-4711-secret')
  expect(await screen.shows(/›\s•{13}/)).not.toContain('4711')
  screen.press('Enter')
  expect(await screen.shows(/exit code 0/)).toContain('shop 1.2.3 is ready')
})

test('an interactive login uses the terminal, and its exit code decides', needs('tmux'), async () => {
  const cmd = `sh -c 'echo "who is there?"; read name; test "$name" = me'`
  const { home } = await added({ auth: { login: { cmd, interactive: true } } })
  const wrong = terminal(['adapters', 'login', 'shop'], home)
  await wrong.shows(/who is there\?/)
  wrong.type('nobody')
  wrong.press('Enter')
  expect(await wrong.shows(/exit code 5/)).toContain('shop is not logged in')
  const right = terminal(['adapters', 'login', 'shop'], home)
  await right.shows(/who is there\?/)
  right.type('me')
  right.press('Enter')
  expect(await right.shows(/exit code 0/)).toContain('shop 1.2.3 is ready')
})

test('12.C7 an own adapter is removed with its agent; a bundled one is refused', async () => {
  const options = await added()
  expect(await cli(['adapters', 'install', 'shop'], options)).toMatchObject({ code: 0 })
  expect(await cli(['adapters', 'remove', 'shop'], options)).toMatchObject({
    code: 0,
    stderr: 'Removed shop and its installed agent.\n',
  })
  expect(existsSync(join(options.home ?? '', 'agents/shop'))).toBe(false)
  const again = await cli(['adapters', 'remove', 'shop'], options)
  expect([again.code, again.stderr]).toEqual([2, expect.stringContaining('there is none of that name')])
  const bundled = await cli(['adapters', 'remove', 'codex'], options)
  expect([bundled.code, bundled.stderr]).toEqual([2, expect.stringContaining('it ships with agentproto')])
})

test('15.3 show lists the modes, models and options that a start may choose', async () => {
  const options = await added({
    modes: [{ id: 'plan', description: 'Changes nothing', bin_args_append: ['--plan'] }, { id: 'quiet' }],
    models: { default: 'a', allowed: ['a', 'b'] },
    options: [
      { id: 'effort', type: 'enum', enum: ['low', 'high'], default: 'low', bin_args_template: ['--effort', '{value}'] },
      { id: 'steps', type: 'integer', min: 1, max: 9, description: 'At most', bin_args_template: ['--s', '{value}'] },
      { id: 'fast', type: 'boolean', bin_args_append_when_true: ['--fast'] },
      { id: 'name', type: 'string', bin_args_template: ['--name={value}'] },
    ],
  })
  const { stdout, stderr } = await cli(['adapters', 'show', 'shop'], options)
  expect(stderr).toBe('')
  const rows = stdout.split('\n').filter((line) => /^ {2}(?:mode|model|models|option) /.test(line))
  expect(rows.map((row) => row.trim().replace(/ +/, ' '))).toEqual([
    'mode plan: Changes nothing',
    'mode quiet',
    'model a by default',
    'models a, b',
    'option effort (low, high; default low)',
    'option steps (whole number from 1 up to 9): At most',
    'option fast (true or false)',
    'option name (text)',
  ])
})
