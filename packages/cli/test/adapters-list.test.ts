import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { text } from 'node:stream/consumers'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { measuredBlock } from '../../manifest/test/fixtures/measured-agent.ts'
import { runProgram } from '../src/program.js'
import { environment, folder } from './cli-process.js'
import { runHere } from './run-here.js'

// Where each adapter came from, and which agents are known to need a login.

const REGISTRY = {
  url: 'https://example.com/registry.json',
  id: 'sample',
  name: 'Sample',
  version: '1.0.0',
  added_at: '2026-11-23T10:00:00.000Z',
}

const refused = (code: 'auth_required' | 'handshake_failed') =>
  measuredBlock({ session: { refused: { code, message: 'Log in first' } } })

/** A home with an adapter for each slug, whose manifest has this block. */
function homeWith(blocks: Readonly<Record<string, object>>): string {
  const home = folder()
  for (const [slug, agentproto] of Object.entries(blocks)) {
    const at = join(home, 'adapters', slug)
    mkdirSync(at, { recursive: true })
    const base = { name: slug, id: slug, description: 'A sample.', version: '1.0.0' }
    const aip44 = { acp_rev: '064ee1ffe194cdb14e1d45d66875ce74a14933c3', tier: 'governance-aware' }
    const manifest = {
      ...base,
      bin: slug,
      install: [{ method: 'npm', package: slug }],
      version_check: { cmd: `${slug} --version`, parse: String.raw`(\d+\.\d+\.\d+)`, range: '*' },
      sandbox: { provider: 'local' },
      protocol: 'acp',
      acp: './ACP.md',
      metadata: { agentproto },
    }
    writeFileSync(join(at, 'AGENT-CLI.md'), `---\n${JSON.stringify(manifest)}\n---\n`)
    const acp = { ...base, kind: 'client', transport: 'stdio', metadata: { aip44 } }
    writeFileSync(join(at, 'ACP.md'), `---\n${JSON.stringify(acp)}\n---\n`)
  }
  return home
}

test('18.5 the list says where each adapter came from, and which agent refused a session without a login', async () => {
  const home = homeWith({
    aa: { registry: REGISTRY, observed: refused('auth_required') },
    ab: { registry: REGISTRY, observed: refused('handshake_failed') },
    ac: { registry: REGISTRY, observed: measuredBlock() },
    ad: { registry: REGISTRY, observed: { at: REGISTRY.added_at, failed: { code: 'timeout', message: 'No answer' } } },
    ae: {},
  })
  const { code, stdout } = await runHere(['adapters', 'list'], { home })
  expect(code).toBe(0)
  const titles = stdout.split('\n')[0] ?? ''
  const cell = (slug: string, title: string): string => {
    const row = stdout.split('\n').find((line) => line.startsWith(`${slug} `)) ?? ''
    return row.slice(titles.indexOf(title)).split('  ')[0] ?? ''
  }
  const shown = ['aa', 'ab', 'ac', 'ad', 'ae', 'demo'].map((slug) => [slug, cell(slug, 'FROM'), cell(slug, 'LOGIN')])
  expect(shown).toEqual([
    ['aa', 'registry', 'needs one'],
    ['ab', 'registry', ''],
    ['ac', 'registry', ''],
    ['ad', 'registry', ''],
    ['ae', 'yours', ''],
    ['demo', 'bundled', ''],
  ])
  const { adapters } = JSON.parse((await runHere(['adapters', 'list', '--json'], { home })).stdout)
  expect(adapters).toContainEqual(
    expect.objectContaining({
      slug: 'aa',
      observed: expect.objectContaining({ logins: [{ id: 'key', name: 'API key', needsTerminal: false }] }),
    }),
  )
})

/** The titles of the list in a terminal of so many columns. */
async function titlesIn(columns: number, home: string): Promise<readonly string[]> {
  const stdout = Object.assign(new PassThrough(), { isTTY: true, columns })
  const printed = text(stdout)
  const stderr = new PassThrough().resume()
  const context = { stdin: new PassThrough().end(), stdout, stderr, env: environment({ home }), cwd: home }
  expect(await runProgram(context, ['adapters', 'list'])).toBe(0)
  stdout.end()
  const lines = stripVTControlCharacters(await printed)
    .trimEnd()
    .split('\n')
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns)
  return (lines[0] ?? '').split(/ {2,}/)
}

test('18.5 in a narrow terminal the origin goes first, and the login stays; without such an agent there is no login', async () => {
  const home = homeWith({ aa: { registry: REGISTRY, observed: refused('auth_required') } })
  expect(await titlesIn(200, home)).toEqual(expect.arrayContaining(['FROM', 'LOGIN', 'PROTOCOL', 'MODES']))
  const narrow = await titlesIn(80, home)
  expect(narrow).toContain('LOGIN')
  expect(narrow).not.toContain('FROM')
  expect(await titlesIn(200, homeWith({}))).not.toContain('LOGIN')
})
