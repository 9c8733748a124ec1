import { execFile } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { putCatalogueAgents } from './support/catalogue-agents.js'
import { startRemoteAgent } from '../packages/arms/acp/test/fixtures/remote-agent.ts'
import { putPageRegistry } from './support/page-registry.js'

// Every ```sh block of these pages is run, in order, in a home per page. A block that cannot run says why, in
// the line before it: <!-- not run: why -->

const ROOT = fileURLToPath(new URL('..', import.meta.url))
const GUIDES = 'docs/guides'
const PAGES = [
  'README.md',
  'packages/cli/README.md',
  'docs/cli.md',
  'docs/first-hour.md',
  'docs/usage.md',
  'docs/upgrades-without-interruption.md',
  ...readdirSync(join(ROOT, GUIDES)).map((name) => `${GUIDES}/${name}`),
]

interface Block {
  readonly script: string
  readonly reason: string | undefined
}

function blocksOf(page: string): Block[] {
  const text = readFileSync(join(ROOT, page), 'utf8')
  const found = text.matchAll(/(?:<!-- not run: (.+) -->\n+)?^```sh\n([\s\S]*?)^```$/gm)
  return [...found].map(([, reason, script = '']) => ({ script, reason }))
}

interface UserFolder {
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
}

/** A folder with the commands on PATH. The gateway that the page starts is stopped after the test. */
function userFolder(): UserFolder {
  const cwd = realpathSync(mkdtempSync(join(tmpdir(), 'docs-')))
  const bin = join(cwd, '.bin')
  mkdirSync(bin)
  symlinkSync(join(ROOT, 'bin/agentproto'), join(bin, 'agentproto'))
  const demoAgent = join(ROOT, 'packages/cli/bin/demo-agent.mjs')
  putCatalogueAgents(bin, demoAgent)
  const { AGENTPROTO_HOME: _, AGENTPROTO_NO_START: __, ...inherited } = process.env
  const env = {
    ...inherited,
    HOME: cwd,
    PATH: `${bin}:${process.env['PATH']}`,
    NO_COLOR: '1',
    AGENTPROTO_DEMO_HOME: join(cwd, '.demo'),
    DEMO_AGENT: demoAgent,
    MY_KEY: 'key-of-a-test',
  }
  onTestFinished(async () => {
    await bash('agentproto stop', { cwd, env })
    rmSync(cwd, { recursive: true, force: true, maxRetries: 3 })
  })
  return { cwd, env }
}

/** The same, with a registry of agents, or an agent that runs elsewhere, where the page adds one. */
async function userFolderFor(scripts: readonly string[]): Promise<UserFolder> {
  const { cwd, env } = userFolder()
  const has = (text: string): boolean => scripts.some((script) => script.includes(text))
  const agent = has('$AGENT_URL') ? { AGENT_URL: (await startRemoteAgent()).url, AGENT_TOKEN: 'token-of-a-test' } : {}
  const registry = has('acp:') ? await putPageRegistry(join(cwd, '.agentproto')) : {}
  return { cwd, env: { ...env, ...agent, ...registry } }
}

function bash(script: string, at: UserFolder): Promise<{ readonly failed: boolean; readonly output: string }> {
  const file = join(at.cwd, '.script')
  writeFileSync(file, script)
  return new Promise((resolve) => {
    execFile('bash', [file], { ...at, encoding: 'utf8', timeout: 280_000 }, (error, stdout, stderr) =>
      resolve({ failed: error !== null, output: `${stdout}${stderr}` }),
    )
  })
}

for (const page of PAGES) {
  const scripts = blocksOf(page).flatMap(({ script, reason }) => (reason === undefined ? [script] : []))
  const programs = ['git', 'curl'].filter((name) =>
    scripts.some((script) => new RegExp(`^ *${name} `, 'm').test(script)),
  )
  test(`every command of ${page} works`, { timeout: 300_000, ...needs(...programs) }, async () => {
    expect(blocksOf(page).length).toBeGreaterThan(0)
    if (scripts.length === 0) return
    // One shell for all, so that folders and variables last to the end of the page.
    const { failed, output } = await bash(`set -euo pipefail\n${scripts.join('\n')}`, await userFolderFor(scripts))
    expect({ failed, output }).toEqual({ failed: false, output: expect.any(String) })
  })
}

test('14.4.1 no shell block of a guide has another name than sh, under which it would not be run', () => {
  const guides = PAGES.filter((page) => page.startsWith(GUIDES))
  const languages = guides.flatMap((page) =>
    [...readFileSync(join(ROOT, page), 'utf8').matchAll(/^```([^\n]+)$/gm)].map(([, language]) => language),
  )
  expect(new Set(languages)).toEqual(new Set(['sh', 'ts', 'json', 'yaml', 'nginx', 'caddy']))
})
