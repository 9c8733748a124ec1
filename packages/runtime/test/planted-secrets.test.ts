import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Principal } from '@agentproto/contracts'
import { createSecrets } from '@agentproto/secrets'
import { expect, test } from 'vitest'
import { PLANTED } from '../../secrets/test/planted.ts'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

// Secrets of more than thirty kinds, which an agent has and prints wherever it can.

const owner: Principal = { type: 'owner', name: 'owner' }
const slugOf = (at: number): string => `planted/secret-${at}`

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))

async function spillingAdapter(home: string, agent = fixture('spilling-agent.mjs')): Promise<string> {
  const folder = join(home, 'more-adapters')
  const secrets = PLANTED.map(({ kind }, at) => ({
    slug: slugOf(at),
    name: kind,
    description: kind,
    exposures: [{ kind: 'env', name: `SPILL_${at}` }],
  }))
  const manifest = {
    name: 'spilling',
    id: 'spilling',
    description: 'Prints its secrets wherever it can.',
    version: '1.0.0',
    bin: 'spilling',
    bin_args: [agent],
    install: [{ method: 'npm', package: 'spilling' }],
    version_check: { cmd: 'spilling --version', parse: '(\\d+\\.\\d+\\.\\d+)', range: '*' },
    auth: { ref: './SECRETS.md' },
    sandbox: { provider: 'local' },
    protocol: 'acp',
    acp: './ACP.md',
  }
  const acp = await readFile(new URL('../../adapters/catalog/demo/ACP.md', import.meta.url), 'utf8')
  await mkdir(join(folder, 'spilling'), { recursive: true })
  await writeFile(join(folder, 'spilling', 'AGENT-CLI.md'), `---\n${JSON.stringify(manifest)}\n---\n`)
  await writeFile(join(folder, 'spilling', 'SECRETS.md'), `---\n${JSON.stringify({ secrets })}\n---\n`)
  await writeFile(join(folder, 'spilling', 'ACP.md'), acp)
  return folder
}

/** The kinds whose text is found in it. */
const leaked = (text: string): readonly string[] =>
  PLANTED.flatMap(({ kind, core }) => {
    const forms = [core, JSON.stringify(core).slice(1, -1), encodeURIComponent(core)]
    return forms.some((form) => text.includes(form)) ? [kind] : []
  })

test('no secret of any kind is in an event, a log, the audit log, a crash bundle, an answer or any other file', async () => {
  const home = await temporaryHome()
  const store = createSecrets({ home, env: {}, onWarning: () => undefined })
  for (const [at, { value }] of PLANTED.entries())
    await store.set(slugOf(at), { kind: value.includes('\n') ? 'keypair' : 'opaque', value }, { place: 'file' })
  const problems: string[] = []
  const gateway = await testGateway({
    home,
    adapters: [await spillingAdapter(home)],
    executables: { spilling: process.execPath },
    log: { level: 'debug' },
    onProblem: (problem) => problems.push(problem),
  })
  const { sessions } = gateway
  const typed = PLANTED.map(({ said }) => said).join('\n')
  const { id } = await sessions.spawn({ adapter: 'spilling', cwd: home, prompt: `mine: ${typed}` }, owner)
  const { text } = await sessions.waitTurn(id, 1)
  // It has them, and prints each.
  expect(text.match(/prints \[redacted\]/g)).toHaveLength(PLANTED.length)
  const { turn } = await sessions.prompt(id, { prompt: 'crash' }, owner)
  await sessions.waitTurn(id, turn)
  await expect.poll(async () => (await sessions.get(id)).status, { timeout: 20_000 }).toBe('exited')
  const { failure } = await sessions.get(id)
  const headers = { authorization: `Bearer ${gateway.token}`, host: 'localhost' }
  const paths = ['', '/events?limit=10000', '/output?lastN=2000', '/turns', '/turns/1', '/export', '/transcript']
  for (const path of [
    '/sessions',
    '/search?q=prints',
    '/secrets',
    '/adapters/spilling',
    ...paths.map((p) => `/sessions/${id}${p}`),
  ]) {
    const answer = await gateway.app.request(path, { headers })
    expect([path, answer.status, leaked(await answer.text())]).toEqual([path, 200, []])
  }
  await gateway.close()
  expect(leaked(problems.join('\n'))).toEqual([])
  const files = (await readdir(home, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const found = await Promise.all(
    files.map(async ({ parentPath, name }) => [name, leaked(await readFile(join(parentPath, name), 'utf8'))] as const),
  )
  const names = found.map(([name]) => name)
  expect(names).toEqual(expect.arrayContaining(['events.jsonl', 'audit.jsonl', 'gateway.jsonl', 'secrets.json']))
  expect(names).toContain(basename(failure?.crashBundlePath ?? '?'))
  expect(found.filter(([name, kinds]) => name !== 'secrets.json' && kinds.length > 0)).toEqual([])
})

/** Whether a text has the token, its secret part or a half of that, as it is or one letter a line. */
function hasToken(text: string, token: string): boolean {
  const plain = text.replaceAll(/\s|\\+n/g, '')
  const parts = [token.slice(6, 40), token.slice(-43, -21), token.slice(-21)]
  const forms = [Buffer.from(token).toString('base64').slice(0, 60), Buffer.from(token).toString('hex').slice(0, 90)]
  return [...parts, ...forms].some((part) => plain.includes(part))
}

test("12.A3 an agent that prints the owner's token in any way gets it into no event, log, failure or crash bundle", async () => {
  const home = await temporaryHome()
  const problems: string[] = []
  const gateway = await testGateway({
    home,
    adapters: [await spillingAdapter(home, fixture('leaking-agent.mjs'))],
    executables: { spilling: process.execPath },
    log: { level: 'debug' },
    onProblem: (problem) => problems.push(problem),
  })
  const { sessions, token } = gateway
  const { id } = await sessions.spawn({ adapter: 'spilling', cwd: home, prompt: 'leak' }, owner)
  const { text } = await sessions.waitTurn(id, 1)

  expect([text.match(/\[redacted\]/g)?.length, hasToken(text, token)]).toEqual([5, false])
  const { turn } = await sessions.prompt(id, { prompt: 'crash' }, owner)
  const crashed = await sessions.waitTurn(id, turn)
  await expect.poll(async () => (await sessions.get(id)).status, { timeout: 20_000 }).toBe('exited')
  const session = await sessions.get(id)
  expect(session.failure?.summary).toContain('private words')
  await gateway.close()
  const logged = await readFile(join(home, 'logs', 'gateway.jsonl'), 'utf8')
  // The output of agents is in their events, and not in the gateway's log (docs/observability.md).
  expect(logged).not.toContain('private words')
  expect([session, crashed, problems].map((data) => hasToken(JSON.stringify(data), token))).toEqual([
    false,
    false,
    false,
  ])
  const files = (await readdir(home, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
  const found = await Promise.all(
    files.map(async ({ parentPath, name }) => [name, await readFile(join(parentPath, name), 'utf8')] as const),
  )
  expect(found.map(([name]) => name)).toContain(basename(session.failure?.crashBundlePath ?? '?'))
  expect(found.filter(([, content]) => hasToken(content, token)).map(([name]) => name)).toEqual(['token'])
})
