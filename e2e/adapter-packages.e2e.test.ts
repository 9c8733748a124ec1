import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { catalogPath } from '@agentproto/adapters'
import { loadAgentCli } from '@agentproto/driver-agent-cli'
import { expect, onTestFinished, test } from 'vitest'
import adapterPackage from '../packages/adapter-pty-repl/package.json' with { type: 'json' }
import { textOf } from './support/driven-agent.js'
import { temporaryFolder } from './support/temporary-folder.js'

// The examples in the READMEs of the adapter packages, which may not import the driver themselves.

const { version } = adapterPackage
const FAKE_GEMINI = fileURLToPath(
  new URL('../packages/adapter-gemini-cli/test/fixtures/fake-gemini.mjs', import.meta.url),
)

test('the README of adapter-gemini-cli: a turn of its headless mode', async () => {
  const home = temporaryFolder('gemini')
  const gemini = join(home, 'gemini')
  writeFileSync(gemini, `#!/bin/sh\nexec "${process.execPath}" "${FAKE_GEMINI}" "$@"\n`, { mode: 0o755 })
  const agent = await loadAgentCli(join(catalogPath, 'gemini-cli-headless'), {
    home,
    executables: { gemini },
    proprietary: {
      '@agentproto/adapter-gemini-cli': { version, module: () => import('@agentproto/adapter-gemini-cli') },
    },
  })
  const session = await agent.start({ mode: 'yolo', cwd: home, env: { HOME: home } })
  onTestFinished(async () => void (await session.close()))
  const events = []
  for await (const event of session.send('What does this project do?')) events.push(event)
  expect(textOf(events)).not.toBe('')
  expect(events.at(-1)).toMatchObject({ type: 'turn-end', reason: 'end_turn' })
})

test('the README of adapter-pty-repl: a turn of a REPL', async () => {
  const home = temporaryFolder('repl')
  const folder = join(home, 'node-repl')
  mkdirSync(folder)
  writeFileSync(join(folder, 'AGENT-CLI.md'), `---\n${JSON.stringify(NODE_REPL)}\n---\n`)
  const agent = await loadAgentCli(folder, {
    home,
    executables: { node: process.execPath },
    proprietary: {
      '@agentproto/adapter-pty-repl': { version, module: () => import('@agentproto/adapter-pty-repl') },
    },
  })
  const session = await agent.start({ cwd: home, env: { HOME: home } })
  onTestFinished(async () => void (await session.close()))
  const events = []
  for await (const event of session.send('6 * 7')) events.push(event)
  expect(textOf(events)).toBe('42')
})

const NODE_REPL = {
  name: 'node-repl',
  id: 'node-repl',
  description: 'The REPL of Node.',
  version: '1.0.0',
  bin: 'node',
  bin_args: ['--interactive'],
  install: [{ method: 'npm', package: 'node' }],
  version_check: { cmd: 'node --version', parse: 'v(\\d+\\.\\d+\\.\\d+)', range: '>=20.0.0' },
  sandbox: { provider: 'local' },
  protocol: 'proprietary',
  adapter: '@agentproto/adapter-pty-repl',
  metadata: { agentproto: { adapter: { prompt: '>' } } },
}
