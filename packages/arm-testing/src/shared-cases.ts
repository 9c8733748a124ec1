import { systemClock } from '@agentproto/contracts'
import type { AgentCaseId } from '@agentproto/contracts/agent'
import { expect } from 'vitest'
import type { CaseAgent, CasePrompts } from './cases/agent-case.js'
import { AGENT_CASES, runCase } from './cases/agent-cases.js'
import { leftovers } from './leftovers.js'
import { open, type Opened, testOf } from './opened.js'
import type { ArmSubject } from './subject.js'

/** What the fixture agent does on the prompts of the cases. */
const PROMPTS = { answer: 'echo hi', long: 'hang', permission: 'ask', tool: 'tool' } as const satisfies CasePrompts

/**
 * A cancel ends its turn within a second. A machine that is busy with much else adds its own, in this process and in the
 * agent's; what an arm forgets would take for ever.
 */
export const CANCEL_MS = 8_000
const LIMITS = { answerMs: 60_000, cancelMs: CANCEL_MS }

/** Registers a case as a test of an arm, with what else the arm must do on it. */
export type OnCase = (id: AgentCaseId, more?: (opened: Opened) => void | Promise<void>) => void

/** The tests of cases; skipped where the protocol has no way to show what a case is about. */
export const casesOf =
  (subject: ArmSubject): OnCase =>
  (id, more) => {
    const { about, title } = AGENT_CASES[id]
    const how = about === 'none' || about === 'answer' ? 'well' : PROMPTS[about]
    testOf(subject, how)(title, async () => {
      const opened = await open(subject)
      const around = { agent: caseAgent(opened), prompts: PROMPTS, limits: LIMITS, clock: systemClock }
      expect(await runCase(AGENT_CASES[id], around)).toMatchObject({ verdict: 'pass' })
      await more?.(opened)
    })
  }

const caseAgent = ({ session, connection, sink, launch }: Opened): CaseAgent => ({
  sink,
  send: (text) => session.send([{ type: 'text', text }]),
  cancel: () => session.cancel(),
  end: () => connection.close(),
  living: () => leftovers(launch.marker),
})
