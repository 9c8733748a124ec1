import { cpSync, mkdirSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { fileURLToPath } from 'node:url'
import { cli, folder } from './cli-process.js'

const catalog = fileURLToPath(new URL('../catalog', import.meta.url))

test('--version prints the version and nothing else', async () => {
  const { version } = JSON.parse(await readFile(new URL('../package.json', import.meta.url), 'utf8')) as {
    version: string
  }
  expect(await cli(['--version'], { home: folder() })).toEqual({ code: 0, stdout: `${version}\n`, stderr: '' })
})

test('--help names every command and shows examples', async () => {
  const { stdout, code } = await cli(['--help'], { home: folder() })
  expect(code).toBe(0)
  for (const name of ['run', 'sessions', 'serve', 'status', 'workspace', 'adapters', 'manifest'])
    expect(stdout).toMatch(new RegExp(`^  ${name}\\b`, 'm'))
  expect(stdout).toContain('Examples:')
})

test.each([
  [['sessions', 'strat'], 2, /Did you mean: agentproto sessions start --help\?/],
  [
    ['sessions', 'show', 'a', 'b'],
    2,
    /^agentproto: .* takes 1 argument, not 2\. .*agentproto sessions show --help\.\n$/,
  ],
  [['frobnicate'], 2, /^agentproto: There is no command agentproto frobnicate\. .*: agentproto --help\.\n$/],
  [['run', 'demo', '--output', 'nope', '-p', 'x'], 2, /Allowed choices are text, json, jsonl, quiet/],
  [['run', 'demo', '-o', 'x', '-p', 'x'], 2, /Write it as key=value/],
  [['run', 'demo'], 2, /There is no prompt.*--prompt/],
  [['sessions'], 1, /No gateway is running for .*agentproto serve --detach\.\n$/],
  [['sessions', 'prompt', 'x', 'hi'], 1, /agentproto serve/],
] as const)('%j is refused with one line that says what to do', async (args, code, message) => {
  const ended = await cli(args, { home: folder() })
  expect(ended).toMatchObject({ code, stdout: '' })
  expect(ended.stderr).toMatch(message)
  expect(ended.stderr.trimEnd()).not.toContain('\n')
})

test('with --json an error is its problem document, on stderr', async () => {
  const { stdout, stderr, code } = await cli(['sessions', '--json'], { home: folder() })
  expect({ stdout, code }).toEqual({ stdout: '', code: 1 })
  expect(JSON.parse(stderr)).toMatchObject({
    code: 'daemon_not_running',
    status: 503,
    hint: expect.stringContaining('agentproto serve'),
  })
})

test('trust and distrust allow and disallow the adapters of a workspace', async () => {
  const [home, shop] = [folder(), folder('shop')]
  mkdirSync(join(shop, '.agentproto', 'adapters', 'own'), { recursive: true })
  await cli(['workspace', 'add', shop, '--slug', 'shop'], { home })
  const trusted = await cli(['workspace', 'trust', 'shop'], { home })
  expect(trusted).toMatchObject({ code: 0, stdout: '' })
  expect(trusted.stderr).toContain(`${shop} can be started`)
  expect(trusted.stderr).toContain(': own')
  const file = JSON.parse(await readFile(join(home, 'trusted.json'), 'utf8')) as { trusted: { path: string }[] }
  expect(file.trusted.map(({ path }) => path)).toEqual([shop])
  expect((await cli(['workspace', 'distrust', 'shop'], { home })).stderr).toContain('ignored again')
  expect((await cli(['workspace', 'distrust', 'shop'], { home })).stderr).toContain('was not trusted')
  expect(await cli(['workspace', 'trust', 'nope'], { home })).toMatchObject({ code: 2, stdout: '' })
})

test('workspaces are added, listed, used and removed without a gateway', async () => {
  const home = folder()
  const [shop, blog] = [folder('shop'), folder('blog')]
  expect(await cli(['workspace', 'add', shop, '--slug', 'shop', '--label', 'Web shop'], { home })).toMatchObject({
    code: 0,
    stdout: 'shop\n',
  })
  expect(await cli(['workspace', 'add', '--slug', 'blog'], { home, cwd: blog })).toMatchObject({
    code: 0,
    stdout: 'blog\n',
  })
  expect(await cli(['workspace', 'use', 'blog'], { home })).toMatchObject({ code: 0, stdout: '' })
  const listed = JSON.parse((await cli(['workspace', 'list', '--json'], { home })).stdout)
  expect(listed).toMatchObject({
    version: 1,
    active: 'blog',
    workspaces: [
      { slug: 'shop', path: shop, label: 'Web shop' },
      { slug: 'blog', path: blog },
    ],
  })
  expect((await cli(['workspace', 'list'], { home })).stdout).toMatch(/^\* {2}blog {2}.*$/m)
  expect(await cli(['workspace', 'add', shop, '--slug', 'shop'], { home })).toMatchObject({ code: 2, stdout: '' })
  expect(await cli(['workspace', 'remove', 'shop'], { home })).toMatchObject({ code: 0 })
  expect(await cli(['workspace', 'remove', 'shop'], { home })).toMatchObject({ code: 2 })
})

test('adds from several processes at once lose nothing', async () => {
  const home = folder()
  const slugs = ['a', 'b', 'c', 'd', 'e']
  const ended = await Promise.all(
    slugs.map((slug) => cli(['workspace', 'add', folder(slug), '--slug', slug], { home })),
  )
  expect(ended.map(({ code, stderr }) => ({ code, stderr }))).toEqual(slugs.map(() => ({ code: 0, stderr: '' })))
  const { workspaces } = JSON.parse((await cli(['workspace', 'list', '--json'], { home })).stdout)
  expect(workspaces.map((each: { slug: string }) => each.slug).toSorted()).toEqual(slugs)
})

test('the shipped manifests are valid', async () => {
  const { code, stdout } = await cli(['manifest', 'validate', join(catalog, 'demo', 'AGENT-CLI.md')], {
    home: folder(),
  })
  expect({ code, stdout }).toEqual({ code: 0, stdout: expect.stringMatching(/^✓ .*AGENT-CLI\.md\n$/) })
})

test('a problem of a manifest is reported with line, column, excerpt and suggestion', async () => {
  const home = folder()
  const good = await readFile(join(catalog, 'demo', 'AGENT-CLI.md'), 'utf8')
  const path = join(home, 'AGENT-CLI.md')
  writeFileSync(path, good.replace(/^protocol:/m, 'protocoll:'))
  const { code, stdout } = await cli(['manifest', 'validate', path], { home })
  const line = good.split('\n').findIndex((each) => each.startsWith('protocol:')) + 1
  expect(code).toBe(1)
  expect(stdout).toContain(`${path}:${line}:1 error`)
  expect(stdout).toContain(`${line} │ protocoll:`)
  expect(stdout).toMatch(/try: protocol\b/)
  const json = await cli(['manifest', 'validate', path, '--json'], { home })
  expect(json.code).toBe(1)
  expect(JSON.parse(json.stdout)).toMatchObject({
    ok: false,
    files: [{ path, ok: false, problems: expect.arrayContaining([expect.objectContaining({ line })]) }],
  })
})

test('folders are searched, and GitHub shows each problem at its line', async () => {
  const home = folder()
  cpSync(join(catalog, 'demo'), join(home, 'good', 'demo'), { recursive: true })
  cpSync(join(catalog, 'demo'), join(home, 'bad', 'demo'), { recursive: true })
  const path = join(home, 'bad', 'demo', 'AGENT-CLI.md')
  const good = await readFile(path, 'utf8')
  writeFileSync(path, good.replace(/^protocol: .*$/m, 'protocol: "100%, no: acp"'))
  const line = good.split('\n').findIndex((each) => each.startsWith('protocol:')) + 1
  const github = await cli(['manifest', 'validate', 'good', 'bad', '--format', 'github'], { home, cwd: home })
  expect(github).toMatchObject({ code: 1, stderr: '' })
  expect(github.stdout).toMatch(
    new RegExp(
      `^::error file=bad/demo/AGENT-CLI\\.md,line=${line},col=11,title=protocol_unsupported::.*100%25, no: acp`,
    ),
  )
  const text = await cli(['manifest', 'validate', 'good', 'bad'], { home, cwd: home })
  expect(text.stdout).toContain('✓ good/demo/AGENT-CLI.md')
  expect(text.stdout).toContain('✗ bad/demo/AGENT-CLI.md: 1 error')
  expect(await cli(['manifest', 'validate', 'good'], { home, cwd: home })).toMatchObject({ code: 0, stderr: '' })
  expect(await cli(['manifest', 'validate', 'good', '--format', 'xml'], { home, cwd: home })).toMatchObject({ code: 2 })
})
