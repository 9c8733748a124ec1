import { delimiter, dirname } from 'node:path'
import { expect, test } from 'vitest'
import { startMockLlm } from './mock-llm/start-mock-llm.js'
import { startDaemon } from './support/daemon.js'
import { requireInstalled } from './support/driven-agent.js'
import { geminiEnvironment } from './support/gemini.js'
import { newMark } from './support/marked-processes.js'
import { openCodeEnvironment } from './support/opencode.js'
import { temporaryFolder } from './support/temporary-folder.js'
import { needs } from '../tooling/needs.ts'

// Real agents and a gateway that is killed with -9 during a turn. The next gateway continues the conversation.

const AGENTS = [
  { adapter: 'opencode', bin: 'opencode', how: 'resume', environment: openCodeEnvironment },
  // It loses a conversation that is loaded within its first minute, so that the next prompt waits.
  { adapter: 'gemini-cli', bin: 'gemini', how: 'load', environment: geminiEnvironment },
] as const

test.each(AGENTS)(
  'F55 $adapter recalls the conversation of a gateway that was killed',
  { ...needs('opencode', 'gemini'), timeout: 300_000 },
  async (agent) => {
    const { adapter, bin, how, environment } = agent
    const mock = await startMockLlm()
    const mark = newMark()
    const home = temporaryFolder('recall')
    const path = [dirname(requireInstalled(bin)), process.env['PATH']].join(delimiter)
    const env = { ...environment(temporaryFolder('agent'), mock.url), ...mark.env, PATH: path }
    try {
      const first = await startDaemon({ home, keeper: false, env })
      const { id } = await first.client.sessions.start({ adapter, cwd: home, instructions: 'Be brief.' })
      await first.client.sessions.promptAndWait(id, { prompt: 'my number is 4711' })
      await first.client.sessions.prompt(id, { prompt: 'SLOW 200' })
      for await (const event of first.client.sessions.events(id))
        if (event.type === 'text-delta' && event.turn === 2) break
      await first.crash()

      const second = await startDaemon({ home, env })
      expect(await second.client.sessions.get(id)).toMatchObject({
        status: 'error',
        resumable: true,
        instructed: 'prompt',
      })
      const { turn } = await second.client.sessions.prompt(id, { prompt: 'RECALL' })
      expect(await second.client.sessions.waitTurn(id, turn)).toMatchObject({ number: 3, reason: 'end_turn' })
      const recalled = await second.client.sessions.turn(id, turn)
      // The mock model repeats an earlier prompt. Whether the agent kept that of the killed turn is up to the agent.
      expect(recalled).toMatchObject({ text: expect.stringMatching(/^RECALL:(my number is 4711|SLOW 200)$/) })
      expect(recalled).not.toHaveProperty('preface')
      expect(await second.client.sessions.get(id)).toMatchObject({ status: 'running', resumedHow: how, turnCount: 3 })
      expect((await second.client.sessions.turns(id)).map(({ reason }) => reason)).toEqual([
        'end_turn',
        'error',
        'end_turn',
      ])
      await second.client.sessions.kill(id)
      await expect.poll(() => mark.living().filter((line) => !line.includes('serve')), { timeout: 30_000 }).toEqual([])
    } finally {
      await mock.close()
    }
  },
)
