import { rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { startMockLlm } from './mock-llm/start-mock-llm.js'
import { startDaemon } from './support/daemon.js'
import { requireInstalled } from './support/driven-agent.js'
import { newMark } from './support/marked-processes.js'
import { geminiEnvironment } from './support/gemini.js'
import { openCodeEnvironment } from './support/opencode.js'
import { temporaryFolder } from './support/temporary-folder.js'
import { needs } from '../tooling/needs.ts'

// A real agent that loses its conversation between two gateways: the loss is reported.

const AGENTS = [
  { adapter: 'opencode', bin: 'opencode', environment: openCodeEnvironment, store: '.local/share/opencode' },
  { adapter: 'gemini-cli', bin: 'gemini', environment: geminiEnvironment, store: '.gemini/tmp' },
] as const

test.each(AGENTS)(
  'F55 a conversation that $adapter has lost is not restarted without a request',
  { ...needs('opencode', 'gemini'), timeout: 300_000 },
  async ({ adapter, bin, environment, store }) => {
    const mock = await startMockLlm()
    const mark = newMark()
    const [home, agentHome] = [temporaryFolder('lost'), temporaryFolder('agent')]
    const path = [dirname(requireInstalled(bin)), process.env['PATH']].join(delimiter)
    const env = { ...environment(agentHome, mock.url), ...mark.env, PATH: path }
    try {
      const first = await startDaemon({ home, keeper: false, env })
      const { id } = await first.client.sessions.start({ adapter, cwd: home })
      await first.client.sessions.promptAndWait(id, { prompt: 'my number is 4711' })
      await first.crash()
      const second = await startDaemon({ home, env })
      const { sessions } = second.client
      await expect.poll(() => mark.living().filter((line) => !line.includes('serve')), { timeout: 30_000 }).toEqual([])
      const before = await sessions.get(id)
      rmSync(join(agentHome, store), { recursive: true, force: true })

      const lost = await sessions.prompt(id, { prompt: 'RECALL' }).catch((thrown: unknown) => thrown)
      expect(lost).toMatchObject({
        code: 'not_resumable',
        message: expect.stringMatching(/refused .*new conversation/),
      })
      const after = await sessions.get(id)
      expect(after).toMatchObject({
        status: 'error',
        failure: { kind: 'load_session_failure' },
        turnCount: 1,
        resumable: true,
        agentSessionId: before.agentSessionId,
      })
      // The prompt was refused: it is not in the log, and no model was called.
      expect((await sessions.turns(id)).map(({ number }) => number)).toEqual([1])

      const fresh = await sessions.resume(id, { fresh: true })
      expect(fresh).toMatchObject({ status: 'running', resumedHow: 'fresh' })
      expect(fresh.agentSessionId).not.toBe(before.agentSessionId)
      const { text } = await sessions.promptAndWait(id, { prompt: 'RECALL' })
      expect(text).not.toContain('4711')
      expect(await sessions.get(id)).toMatchObject({ turnCount: 2 })
      await sessions.kill(id)
      await expect.poll(() => mark.living().filter((line) => !line.includes('serve')), { timeout: 30_000 }).toEqual([])
    } finally {
      await mock.close()
    }
  },
)
