import { openPublishCheck, type PublishFinding } from '@agentproto/runtime'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { startMockLlm } from './mock-llm/start-mock-llm.js'
import { requireInstalled } from './support/driven-agent.js'
import { openCodeEnvironment } from './support/opencode.js'
import { temporaryFolder } from './support/temporary-folder.js'

// The report for authors of agents, on a real agent.

test(
  'OpenCode, with a model, passes the checks of publish-check',
  // OpenCode is started ten times.
  { ...needs('opencode'), timeout: 600_000 },
  async () => {
    const mock = await startMockLlm()
    onTestFinished(() => mock.close())
    const prompts = { answer: 'hello', long: 'SLOW 50', permission: 'WRITE hello.txt', tool: 'PLAN' }
    const env = { PATH: process.env['PATH'], ...openCodeEnvironment(temporaryFolder('opencode'), mock.url) }
    const findings: PublishFinding[] = []
    const signal = new AbortController().signal
    const limits = { answerMs: 60_000, cancelMs: 5_000 }
    for await (const each of openPublishCheck(
      { slug: 'opencode' },
      { prompts, limits, signal },
      { home: temporaryFolder('home'), env, executables: { opencode: requireInstalled('opencode') } },
    ))
      findings.push(each)
    expect(findings.filter(({ verdict }) => verdict !== 'pass')).toEqual([])
    expect(findings).toHaveLength(14)
  },
)
