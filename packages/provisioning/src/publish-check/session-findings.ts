import { setTimeout } from 'node:timers/promises'
import { AGENT_CASES, type CaseAgent, type CasePrompts, RecordingSink, runCase } from '@agentproto/arm-testing/cases'
import { type AgentRequest, isAgentprotoError, randomId, settlesWithin, systemClock } from '@agentproto/contracts'
import { AGENT_CASE_IDS, type AgentCaseId, type SessionOrigin } from '@agentproto/contracts/agent'
import { launchHints } from '@agentproto/driver-agent-cli/installation'
import { findMarkedProcesses } from '@agentproto/subprocess'
import { type Examined, startExamined } from '../start-examined.js'
import type { Verdict } from './publish-finding.js'

export interface CaseLimitsOfReport {
  /** The longest that a turn may take, in milliseconds. Default: two minutes, since a model may think for a while. */
  readonly answerMs?: number
  /** The longest that a cancelled turn may take to end. Default: a second. */
  readonly cancelMs?: number
}

export interface SessionChecks extends Examined {
  /** An empty folder. */
  readonly cwd: string
  readonly prompts: CasePrompts
  readonly limits: CaseLimitsOfReport
  /** A session was refused without a login: that finding is there already. */
  readonly wasRefused: boolean
  /** Default: all. */
  readonly only?: readonly AgentCaseId[] | undefined
}

const ANSWER_MS = 120_000
const CANCEL_MS = 1_000
/** A case has at most so many turns, with a start before each. */
const TURNS_MAX = 4
const START_MS = 60_000
/** Of one turn; more of it is counted, and not kept. */
const SIGNALS_MAX = 20_000

/**
 * Runs the cases, each with a new agent, so that one that fails says nothing about the next. After a start that fails for a reason
 * which the next one would have as well, the others are skipped.
 */
export async function* sessionVerdicts(checks: SessionChecks): AsyncGenerator<readonly [AgentCaseId, Verdict]> {
  let hopeless: string | undefined
  for (const id of checks.only ?? AGENT_CASE_IDS) {
    checks.signal.throwIfAborted()
    if (hopeless !== undefined) {
      yield [id, { verdict: 'skipped', reason: hopeless }]
      continue
    }
    const { about } = AGENT_CASES[id]
    // Before an agent is started for nothing.
    if (about !== 'none' && checks.prompts[about] === undefined) {
      yield [id, { verdict: 'skipped', reason: `no prompt was given for it: --prompt-${about}` }]
      continue
    }
    const { verdict, stops } = await oneCase(id, checks)
    hopeless = stops
    yield [id, verdict]
  }
}

interface CaseRun {
  readonly verdict: Verdict
  /** Why there is no use in the others. */
  readonly stops?: string
}

async function oneCase(id: AgentCaseId, checks: SessionChecks): Promise<CaseRun> {
  let agent: CaseAgent
  try {
    agent = await startCase(checks, { how: 'new' })
  } catch (thrown) {
    if (checks.signal.aborted || !isAgentprotoError(thrown)) throw thrown
    const { code, message } = thrown
    const needsLogin = code === 'auth_required' || code === 'setup_required'
    const stops = needsLogin ? `it needs a login: ${message}` : `the agent did not start: ${message}`
    if (needsLogin || checks.wasRefused) return { verdict: { verdict: 'skipped', reason: stops }, stops }
    return { verdict: { verdict: 'fail', expected: 'a start', seen: message }, stops }
  }
  try {
    return { verdict: await bounded(id, agent, checks) }
  } finally {
    await agent.end().catch(() => undefined)
    checks.signal.throwIfAborted()
  }
}

/** Each wait of a case has its own limit; this one is for what waits without one. */
async function bounded(
  id: AgentCaseId,
  agent: CaseAgent,
  { prompts, limits, host, signal }: SessionChecks,
): Promise<Verdict> {
  const { clock = systemClock } = host
  const { answerMs = ANSWER_MS, cancelMs = CANCEL_MS } = limits
  const running = runCase(AGENT_CASES[id], { agent, prompts, limits: { answerMs, cancelMs }, clock })
  // Its turn ends with its agent, and the case with its turn.
  const abort = (): void => void agent.end().catch(() => undefined)
  signal.addEventListener('abort', abort, { once: true })
  const wholeMs = TURNS_MAX * (answerMs + START_MS)
  const isOver = await settlesWithin(wholeMs, running, clock)
  signal.removeEventListener('abort', abort)
  return isOver ? running : { verdict: 'fail', expected: 'an end of the case', seen: `none after ${wholeMs / 1_000} s` }
}

async function startCase(checks: SessionChecks, origin: SessionOrigin): Promise<CaseAgent> {
  const sink = new RecordingSink(SIGNALS_MAX)
  const sessionId = randomId('ses_')
  sink.onAsk = async (request) => rejected(request)
  const { cwd, adapter } = checks
  const agent = await startExamined(checks, { cwd, origin, sink, sessionId })
  const { load, resume } = agent.info.capabilities
  const again = async (): Promise<CaseAgent> => {
    // Sooner, some agents would damage their record of the conversation.
    await setTimeout(launchHints(adapter.manifest).resumeAfterMs, undefined, { signal: checks.signal })
    return startCase(checks, { how: resume ? 'resume' : 'load', agentSessionId: agent.agentSessionId })
  }
  return {
    sink,
    send: (text) => agent.send([{ type: 'text', text }]),
    cancel: () => agent.cancel(),
    end: () => agent.stop(),
    living: () => findMarkedProcesses(sessionId).map(({ pid }) => `process ${pid}`),
    ...((load || resume) && { again }),
  }
}

/** Unless a case is about it, nothing is allowed. */
function rejected(request: AgentRequest) {
  const option = request.kind === 'permission' ? request.options.find(({ kind }) => kind === 'reject_once') : undefined
  return option === undefined
    ? ({ outcome: 'cancelled' } as const)
    : ({ outcome: 'selected', optionId: option.optionId } as const)
}
