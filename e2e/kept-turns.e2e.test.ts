import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createGateway } from '@agentproto/runtime'
import { expect, onTestFinished, test } from 'vitest'
import { startDaemon } from './support/daemon.js'
import { agentsIn, allEvents, endedTurns, keepingHome, ofType, textIn } from './support/kept-agents.js'
import { newMark } from './support/marked-processes.js'
import { temporaryFolder } from './support/temporary-folder.js'

test('16.3 an adapter package that declares reattach: killed in the middle of a turn, the same process goes on', async () => {
  const home = keepingHome('kept-turns')
  const mark = newMark()
  const env = { PATH: `${fakeGemini(home)}:${process.env['PATH'] ?? ''}`, GEMINI_API_KEY: 'fake', ...mark.env }
  const first = await startDaemon({ home, env })
  const { id } = await first.client.sessions.start({ adapter: 'gemini-cli-headless', cwd: home })
  const { kept, warnings, agentSessionId } = await first.client.sessions.get(id)
  expect({ kept, warnings }).toEqual({ kept: true, warnings: [] })
  await first.client.sessions.promptAndWait(id, { prompt: 'before' })
  await first.client.sessions.prompt(id, { prompt: 'slow' })
  await expect.poll(async () => textIn(await allEvents(first.client, id))).toContain('1 ')
  const [agent] = agentsIn(mark.living(), id)
  await first.crash()
  expect(agentsIn(mark.living(), id)).toEqual([agent])

  const second = await startDaemon({ home, env })
  expect(agentsIn(mark.living(), id)).toEqual([agent])
  expect(await second.client.sessions.get(id)).toMatchObject({
    status: 'running',
    kept: true,
    turn: { number: 2 },
    agentSessionId,
  })
  await expect.poll(() => endedTurns(second.client, id), { timeout: 20_000 }).toBe(2)
  await second.crash()

  const { client } = await startDaemon({ home, env })
  expect(await client.sessions.get(id)).toMatchObject({ status: 'running', kept: true })
  await client.sessions.promptAndWait(id, { prompt: 'after' })
  const events = await allEvents(client, id)
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, at) => at + 1))
  expect(ofType(events, 'repair')).toEqual([])
  expect(ofType(events, 'turn-end').map(({ reason }) => reason)).toEqual(['end_turn', 'end_turn', 'end_turn'])
  const numbers = Array.from({ length: 40 }, (_, at) => `${at} `).join('')
  expect(textIn(events)).toBe(`new before. ${numbers}continued after. `)
  await client.sessions.kill(id)
  expect(mark.living().filter((line) => !line.includes('serve') && !line.includes('keeper'))).toEqual([])
})

test('16.5 a gateway that leaves its agents leaves the process of a turn, and the next one ends it when it stops', async () => {
  const mark = newMark()
  const folder = temporaryFolder('left-turn')
  const path = `${fakeGemini(folder)}:${process.env['PATH'] ?? ''}`
  const env = { ...process.env, HOME: folder, PATH: path, GEMINI_API_KEY: 'fake', ...mark.env }
  const options = { home: join(folder, 'home'), cwd: folder, keeper: true, env }
  const first = await createGateway(options)
  const { id } = await first.sessions.spawn(
    { adapter: 'gemini-cli-headless', prompt: 'slow' },
    { type: 'owner', name: 'owner' },
  )
  await expect.poll(() => agentsIn(mark.living(), id)).toHaveLength(1)
  const [agent] = agentsIn(mark.living(), id)
  await first.close({ keepAgents: true })
  expect(agentsIn(mark.living(), id)).toEqual([agent])
  const second = await createGateway(options)
  onTestFinished(() => second.close())
  expect(agentsIn(mark.living(), id)).toEqual([agent])
  expect(await second.sessions.get(id)).toMatchObject({ status: 'running', kept: true, turn: { number: 1 } })
  expect(await second.sessions.waitTurn(id, 1)).toMatchObject({ reason: 'end_turn' })
  await second.close()
  expect(agentsIn(mark.living(), id)).toEqual([])
})

/** A folder with a program that has Gemini's headless mode. @returns the folder */
function fakeGemini(home: string): string {
  const bin = join(home, 'bin')
  mkdirSync(bin)
  writeFileSync(join(bin, 'gemini'), `#!${process.execPath}\n${PROGRAM}`, { mode: 0o755 })
  return bin
}

const PROGRAM = `
if (process.argv.includes('--version')) {
  console.log('0.61.0')
  process.exit(0)
}
let prompt = ''
for await (const chunk of process.stdin) prompt += chunk
const say = (content) => console.log(JSON.stringify({ type: 'message', role: 'assistant', content, delta: true }))
if (prompt.trim() === 'slow') {
  for (let at = 0; at < 40; at += 1) {
    say(at + ' ')
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
} else say((process.argv.includes('--resume') ? 'continued ' : 'new ') + prompt.trim() + '. ')
console.log(JSON.stringify({ type: 'result', status: 'success' }))
`
