import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Client } from '@agentproto/client'
import { createGateway } from '@agentproto/runtime'
import { expect, test } from 'vitest'
import { agentsIn, allEvents, ofType, startKeeping, type Succession, textIn } from './support/kept-agents.js'
import { newMark } from './support/marked-processes.js'
import { allowOnce, pendingPermission } from './support/pending-request.js'
import { temporaryFolder } from './support/temporary-folder.js'

// Commands that the gateway runs for an agent end with it, and the agent is told.

const HOSTED = fileURLToPath(new URL('fixtures/hosted-commands-agent.mjs', import.meta.url))
const SLEEP = { method: 'terminal/create', command: 'sleep', args: ['300'] }
const ENDED = /refused: .*command end(s|ed) with the gateway that ran it/

test('16.7 an agent that waits for a command when the gateway is killed is told that it ended, and nothing of it is left', async () => {
  const kept = await startHosting('kept-wait-for-exit')
  const { first, next, mark } = kept
  const id = await run(kept, [SLEEP, { method: 'terminal/wait_for_exit' }, { method: 'terminal/release' }])
  await allow(first.client, id)
  await expect.poll(() => sleeping(mark.living())).toHaveLength(1)
  const agents = agentsIn(mark.living(), id)
  await first.crash()

  const { client } = await next()
  expect(agentsIn(mark.living(), id)).toEqual(agents.filter((line) => sleeping([line]).length === 0))
  const { text } = await client.sessions.waitTurn(id, 1)
  const lines = text.trimEnd().split('\n')
  expect(lines[0]).toMatch(/^terminal\/create: \{"terminalId":"terminal-/)
  expect(lines[1]).toMatch(/^terminal\/wait_for_exit: /)
  expect(lines[1]).toMatch(ENDED)
  expect(lines[2]).toMatch(ENDED)
  await expect.poll(() => sleeping(mark.living())).toEqual([])
  await isWhole(client, id)
})

test('16.7 what an agent asks later about a command of the earlier gateway is answered with that, and new commands run', async () => {
  const kept = await startHosting('kept-output')
  const { first, next, mark, home } = kept
  const id = await run(kept, [
    SLEEP,
    { pause: true },
    { method: 'terminal/output' },
    { method: 'terminal/kill' },
    { method: 'terminal/wait_for_exit' },
    { method: 'terminal/release' },
  ])
  await allow(first.client, id)
  await expect.poll(async () => textIn(await allEvents(first.client, id))).toContain('terminal/create')
  await first.crash()
  const { client } = await next()
  await expect.poll(() => sleeping(mark.living())).toEqual([])
  writeFileSync(join(home, 'go'), '')
  const { text } = await client.sessions.waitTurn(id, 1)
  const [, ...later] = text.trimEnd().split('\n')
  expect(later).toHaveLength(4)
  for (const line of later) expect(line).toMatch(ENDED)
  const commands = [{ method: 'terminal/create', command: 'true' }, { method: 'terminal/wait_for_exit' }]
  await client.sessions.prompt(id, { prompt: JSON.stringify(commands) })
  await allow(client, id)
  expect((await client.sessions.waitTurn(id, 2)).text).toContain('terminal/wait_for_exit: {"exitCode":0')
  await isWhole(client, id)
})

test('16.7 a command that waits for its permission waits for it under the next gateway, and runs there', async () => {
  const kept = await startHosting('kept-unpermitted')
  const { first, next } = kept
  const id = await run(kept, [{ method: 'terminal/create', command: 'true' }, { method: 'terminal/wait_for_exit' }])
  const { requestId } = await pendingPermission(first.client, id)
  await first.crash()
  const { client } = await next()
  expect(await pendingPermission(client, id)).toMatchObject({ requestId })
  await allow(client, id)
  expect((await client.sessions.waitTurn(id, 1)).text).toContain('terminal/wait_for_exit: {"exitCode":0')
  await isWhole(client, id)
})

test('16.7 a gateway that is closed and leaves its agents ends the commands that it ran for them', async () => {
  const home = temporaryFolder('kept-left')
  const mark = newMark()
  addHostedAgent(home)
  const gateway = await createGateway({
    home: join(home, '.agentproto'),
    cwd: home,
    keeper: true,
    checkpoints: { enabled: false },
    serve: { terminal: true },
    env: { ...process.env, HOME: home, ...mark.env },
  })
  const prompt = JSON.stringify([SLEEP, { method: 'terminal/wait_for_exit' }])
  const start = { adapter: 'hosted', prompt, permissionMode: 'approve-all' } as const
  const { id } = await gateway.sessions.spawn(start, { type: 'owner', name: 'owner' })
  await expect.poll(() => sleeping(mark.living())).toHaveLength(1)
  await gateway.close({ keepAgents: true })
  expect(sleeping(mark.living())).toEqual([])
  expect(agentsIn(mark.living(), id)).toHaveLength(1)
  const next = await createGateway({
    home: join(home, '.agentproto'),
    keeper: true,
    env: { ...process.env, HOME: home },
  })
  expect(await next.sessions.waitTurn(id, 1)).toMatchObject({ reason: 'end_turn' })
  await next.close()
  expect(agentsIn(mark.living(), id)).toEqual([])
})

async function startHosting(name: string): Promise<Succession> {
  return startKeeping(name, { config: { serve: { terminal: true } }, prepare: addHostedAgent })
}

function addHostedAgent(home: string): void {
  const folder = join(home, '.agentproto', 'adapters', 'hosted')
  mkdirSync(folder, { recursive: true })
  const manifest = {
    name: 'hosted',
    id: 'hosted',
    description: 'Has its commands run by the gateway.',
    version: '1.0.0',
    bin: HOSTED,
    install: [{ method: 'vendored', path: './agent' }],
    version_check: { cmd: 'true', parse: '(.*)', range: '*' },
    sandbox: { provider: 'local' },
    protocol: 'acp',
    acp: './ACP.md',
  }
  const aip44 = { acp_rev: '064ee1ffe194cdb14e1d45d66875ce74a14933c3', tier: 'basic' }
  const acp = { ...manifest, kind: 'client', transport: 'stdio', metadata: { aip44 } }
  writeFileSync(join(folder, 'AGENT-CLI.md'), `---\n${JSON.stringify(manifest)}\n---\n`)
  writeFileSync(join(folder, 'ACP.md'), `---\n${JSON.stringify(acp)}\n---\n`)
}

/** Starts a session whose agent makes these requests. */
async function run({ first, home }: Succession, requests: readonly object[]): Promise<string> {
  const prompt = JSON.stringify(requests)
  return (await first.client.sessions.start({ adapter: 'hosted', cwd: home, prompt })).id
}

async function allow(client: Client, id: string): Promise<void> {
  const asked = await pendingPermission(client, id)
  await client.sessions.answer(id, asked.requestId, { optionId: allowOnce(asked) })
}

const sleeping = (living: readonly string[]): readonly string[] => living.filter((line) => line.includes('sleep 300'))

async function isWhole(client: Client, id: string): Promise<void> {
  const events = await allEvents(client, id)
  expect(ofType(events, 'repair')).toEqual([])
  expect(ofType(events, 'agent-prompt')).toHaveLength(ofType(events, 'agent-prompt-resolved').length)
}
