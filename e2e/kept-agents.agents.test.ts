import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Client } from '@agentproto/client'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { startMockLlm } from './mock-llm/start-mock-llm.js'
import { codexEnvironment } from './support/codex.js'
import { type Daemon, startDaemon } from './support/daemon.js'
import { requireInstalled } from './support/driven-agent.js'
import { geminiEnvironment } from './support/gemini.js'
import { agentsIn, allEvents, keepingHome, lastingAgentsIn, numbersOf, ofType, textIn } from './support/kept-agents.js'
import { type Mark, newMark } from './support/marked-processes.js'
import { openCodeEnvironment } from './support/opencode.js'
import { allowOnce, pendingPermission } from './support/pending-request.js'
import { temporaryFolder } from './support/temporary-folder.js'

/** Real agents over ACP and MCP, whose gateway is killed. The model is in the process of the test: it does not end with the gateway. */
const AGENTS = [
  { program: 'opencode', adapter: 'opencode', environment: openCodeEnvironment },
  { program: 'gemini', adapter: 'gemini-cli', environment: geminiEnvironment },
  { program: 'codex-acp', adapter: 'codex', environment: codexEnvironment },
  { program: 'codex', adapter: 'codex-mcp', environment: codexEnvironment },
] as const

type Agent = (typeof AGENTS)[number]

/** Real agents start slowly while other tests run. */
const PATIENCE = { timeout: 90_000 }

for (const agent of AGENTS) {
  test(
    `16.3 ${agent.adapter}: the gateway is killed in the middle of a streamed answer, and its text is there once`,
    needs(agent.program),
    async () => {
      const { first, next, cwd, mark } = await serve(agent)
      const { id } = await first.client.sessions.start({ adapter: agent.adapter, cwd, prompt: 'SLOW 30' })
      await saysAnother(first.client, id)
      const agents = await lastingAgentsIn(mark, id)
      await first.crash()
      await goesOn(mark, id, agents)

      const { client } = await next()
      expect(await client.sessions.get(id)).toMatchObject({ status: 'running', kept: true, turn: { number: 1 } })
      await goesOn(mark, id, agents)
      await saysAnother(client, id)
      expect(await client.sessions.waitTurn(id, 1)).toMatchObject({ reason: 'end_turn', text: SLOW })
      await isWhole(client, id)
      // Its conversation goes on, too.
      expect(await client.sessions.promptAndWait(id, { prompt: 'RECALL' })).toMatchObject({
        number: 2,
        text: 'RECALL:SLOW 30',
      })
      await client.sessions.kill(id)
      expect(agentsIn(mark.living(), id)).toEqual([])
    },
  )

  test(
    `16.3 ${agent.adapter}: the gateway is killed while a permission is pending, and the file is written`,
    needs(agent.program),
    async () => {
      const { first, next, cwd, mark } = await serve(agent)
      const { id } = await first.client.sessions.start({ adapter: agent.adapter, cwd })
      await first.client.sessions.promptAndWait(id, { prompt: 'my number is 4711' })
      await first.client.sessions.prompt(id, { prompt: 'WRITE hello.txt' })
      const asked = await pendingPermission(first.client, id)
      const agents = await lastingAgentsIn(mark, id)
      await first.crash()

      const { client } = await next()
      const turn = { number: 2, state: 'awaiting-input' }
      expect(await client.sessions.get(id)).toMatchObject({ status: 'running', kept: true, turn })
      await goesOn(mark, id, agents)
      const again = await pendingPermission(client, id)
      expect(again).toEqual(asked)
      await client.sessions.answer(id, again.requestId, { optionId: allowOnce(again) })
      expect(await client.sessions.waitTurn(id, 2)).toMatchObject({ reason: 'end_turn' })
      expect(readFileSync(join(cwd, 'hello.txt'), 'utf8')).toBe('mock wrote hello.txt\n')
      const events = await isWhole(client, id)
      expect(ofType(events, 'agent-prompt')).toHaveLength(1)
      expect(ofType(events, 'agent-prompt-resolved')).toHaveLength(1)
      await client.sessions.kill(id)
      expect(agentsIn(mark.living(), id)).toEqual([])
    },
  )

  test(
    `16.3 ${agent.adapter}: the gateway is killed right after an interrupt, and the session goes on`,
    needs(agent.program),
    async () => {
      const { first, next, cwd, mark } = await serve(agent)
      const { id } = await first.client.sessions.start({ adapter: agent.adapter, cwd })
      await first.client.sessions.promptAndWait(id, { prompt: 'my number is 4711' })
      await first.client.sessions.prompt(id, { prompt: 'WRITE hello.txt' })
      await pendingPermission(first.client, id)
      const agents = await lastingAgentsIn(mark, id)
      await first.client.sessions.interrupt(id)
      await first.crash()

      const { client } = await next()
      await goesOn(mark, id, agents)
      expect(await client.sessions.waitTurn(id, 2)).toMatchObject({ reason: 'cancelled' })
      expect(existsSync(join(cwd, 'hello.txt'))).toBe(false)
      expect(await client.sessions.promptAndWait(id, { prompt: 'hello' })).toMatchObject({
        number: 3,
        text: 'echo: hello',
      })
      await isWhole(client, id)
      await client.sessions.kill(id)
      expect(agentsIn(mark.living(), id)).toEqual([])
    },
  )
}

interface Serving {
  readonly first: Daemon
  /** The next gateway of the same home. */
  readonly next: () => Promise<Daemon>
  readonly cwd: string
  readonly mark: Mark
}

async function serve({ program, adapter, environment }: Agent): Promise<Serving> {
  const mock = await startMockLlm()
  onTestFinished(() => mock.close())
  const mark = newMark()
  const path = `${dirname(requireInstalled(program))}:${process.env['PATH']}`
  const env = { ...environment(temporaryFolder(adapter), mock.url), ...mark.env, PATH: path }
  const home = keepingHome(`kept-${adapter}`)
  const next = (): Promise<Daemon> => startDaemon({ home, env })
  return { first: await next(), next, cwd: temporaryFolder('cwd'), mark }
}

const SLOW = Array.from({ length: 300 }, (_, i) => `slow-${i + 1} `).join('')

/** Each process of the agent is still there, and there is no other, except what an agent starts for a moment. */
async function goesOn(mark: Mark, id: string, agents: readonly string[]): Promise<void> {
  expect(agentsIn(mark.living(), id)).toEqual(expect.arrayContaining([...agents]))
  await expect.poll(() => agentsIn(mark.living(), id)).toEqual(agents)
}

/** Waits for text that was not there before. */
async function saysAnother(client: Client, id: string): Promise<void> {
  const text = async (): Promise<string> => textIn(await allEvents(client, id))
  const before = (await text()).length
  await expect.poll(async () => (await text()).length, PATIENCE).toBeGreaterThan(before)
}

/** Each event is there once, and nothing had to be repaired. */
async function isWhole(client: Client, id: string): ReturnType<typeof allEvents> {
  const events = await allEvents(client, id)
  expect(events.map(({ seq }) => seq)).toEqual(numbersOf(events))
  expect(ofType(events, 'repair')).toEqual([])
  const calls = ofType(events, 'tool-call').map(({ toolCallId, status }) => `${toolCallId} ${status ?? ''}`)
  expect(calls).toEqual([...new Set(calls)])
  return events
}
