import { createHash } from 'node:crypto'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { folder } from './cli-process.js'
import { runHere } from './run-here.js'

// Agents of a registry on loopback, whose program is a download: from search to update.

const PROGRAM = `#!${process.execPath}
if (process.argv.includes('--version')) {
  console.log('1.0.0')
  process.exit(0)
}
const results = { initialize: { protocolVersion: 1, agentCapabilities: {} }, 'session/new': { sessionId: 's1' } }
require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method } = JSON.parse(line)
  const answer = results[method] ? { result: results[method] } : { error: { code: -32601, message: 'no such method' } }
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, ...answer }))
})
`
const SHA256 = createHash('sha256').update(PROGRAM).digest('hex')

interface World {
  readonly home: string
  readonly entry: Record<string, unknown>
}

/** A home whose registry has one agent, with a download that has no checksum. */
async function world(): Promise<World> {
  const home = folder()
  const entry: Record<string, unknown> = { id: 'sample', name: 'Sample', version: '1.0.0', description: 'A sample' }
  const server = createServer((request, response) => {
    if (request.url === '/sample-acp') response.end(PROGRAM)
    else response.end(JSON.stringify({ version: '1.0.0', agents: [entry] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const target = { archive: `${url}/sample-acp`, cmd: './sample-acp' }
  const os = process.platform === 'darwin' ? 'darwin' : 'linux'
  entry['distribution'] = { binary: { [`${os}-aarch64`]: target, [`${os}-x86_64`]: target } }
  writeFileSync(join(home, 'config.json'), JSON.stringify({ registry: { url: `${url}/registry.json` } }))
  return { home, entry }
}

test('18.1 an agent is found, added by its id, kept up to date, and removed', async () => {
  const { home, entry } = await world()
  const found = await runHere(['adapters', 'search', 'sample'], { home })
  expect(found).toMatchObject({ code: 0, stdout: expect.stringMatching(/^acp:sample +Sample +1\.0\.0/m) })
  expect(found.stderr).toMatch(/1 agents of http.*old/)
  const none = await runHere(['adapters', 'search', 'nosuchagent'], { home })
  expect(none).toMatchObject({ code: 0, stdout: '', stderr: expect.stringContaining('No agent has these words') })

  // Without a terminal, a download without a checksum needs a word.
  const refused = await runHere(['adapters', 'add', 'acp:sample'], { home })
  expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('--allow-unverified') })
  expect(existsSync(join(home, 'agents')) ? readdirSync(join(home, 'agents')) : []).toEqual([])
  const added = await runHere(['adapters', 'add', 'acp:sample', '--allow-unverified'], { home })
  expect(added).toMatchObject({ code: 0, stdout: 'sample\n', stderr: expect.stringContaining(SHA256) })
  expect(added.stderr).toContain('sample 1.0.0 is ready')

  expect(await runHere(['adapters', 'outdated', '--refresh'], { home })).toMatchObject({ code: 0, stdout: '' })
  entry['version'] = '1.0.1'
  const outdated = await runHere(['adapters', 'outdated', '--refresh'], { home })
  expect(outdated.stdout).toMatch(/^sample +1\.0\.0 +1\.0\.1/m)

  const manifest = join(home, 'adapters/sample/AGENT-CLI.md')
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replace('A sample', 'Edited'))
  const edited = await runHere(['adapters', 'update', 'sample'], { home })
  expect(edited).toMatchObject({ code: 2, stderr: expect.stringContaining('adapters update sample --yes') })
  expect(await runHere(['adapters', 'update', '--json', '--yes'], { home })).toMatchObject({ code: 0 })
  expect(readFileSync(manifest, 'utf8')).toContain('version: 1.0.1')
  expect(await runHere(['adapters', 'remove', 'sample'], { home })).toMatchObject({ code: 0 })
  expect([readdirSync(join(home, 'agents')), readdirSync(join(home, 'adapters'))]).toEqual([[], []])
}, 120_000)

test('18.1 a file with one entry needs no id, and a start of what only the registry has names the command', async () => {
  const { home, entry } = await world()
  expect(await runHere(['adapters', 'search'], { home })).toMatchObject({ code: 0 })
  const started = await runHere(['run', 'sample', '--prompt', 'hello'], { home })
  expect(started).toMatchObject({ code: 2, stderr: expect.stringContaining('agentproto adapters add acp:sample') })
  const both = await runHere(['adapters', 'search', '--refresh', '--offline'], { home })
  expect(both).toMatchObject({ code: 2, stderr: expect.stringContaining('one of --refresh and --offline') })

  const file = join(folder('entry'), 'agent.json')
  writeFileSync(file, JSON.stringify(entry))
  const added = await runHere(['adapters', 'add', '--from', file, '--sha256', SHA256, '--as', 'mine', '--json'], {
    home,
  })
  expect(JSON.parse(added.stdout)).toMatchObject({ adapter: { slug: 'mine' }, state: { ready: true } })
  // The agent is there now, by another name.
  const again = await runHere(['run', 'sample', '--prompt', 'hello'], { home })
  expect(again).toMatchObject({ code: 2, stderr: expect.stringContaining('agentproto adapters show mine') })
}, 120_000)
