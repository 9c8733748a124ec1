import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { CasePrompts } from '@agentproto/arm-testing/cases'
import { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
import {
  AGENT_CASE_IDS,
  type AgentCaseId,
  type FailedObservation,
  type ObservedAgent,
} from '@agentproto/contracts/agent'
import { observeAgent } from '@agentproto/driver-agent-cli'
import { launchHints } from '@agentproto/driver-agent-cli/installation'
import { eventStream } from '../event-stream.js'
import type { Examined } from '../start-examined.js'
import { observationFindings } from './observation-findings.js'
import { finding, PUBLISH_CHECKS, type PublishFinding } from './publish-finding.js'
import { type CaseLimitsOfReport, sessionVerdicts } from './session-findings.js'

export interface PublishCheck extends Omit<Examined, 'signal'> {
  /** What was measured when it was installed. Default: it is measured now. */
  readonly observed?: ObservedAgent
  /** Default of `answer` and `long`: those of the manifest, else plain requests. */
  readonly prompts?: Partial<CasePrompts>
  readonly limits?: CaseLimitsOfReport
  /** The cases to run, of all that need a session. Default: all. */
  readonly only?: readonly AgentCaseId[]
  readonly signal?: AbortSignal
}

const PROMPTS = {
  answer: 'Reply with the single word: ready',
  long: 'Count from 1 to 500 in words, one number a line. Use no tool.',
}

/**
 * Checks what an ACP agent does that its users rely on: the handshake, sessions, turns, requests and its end. A finding never throws; the
 * iteration throws only `protocol_unsupported` and `cancelled`. Leaving the iteration ends what was started.
 */
export const publishCheck = (check: PublishCheck): AsyncIterable<PublishFinding> =>
  eventStream<PublishFinding>(
    async (report, signal) => {
      try {
        await findings({ ...check, signal }, report)
      } catch (thrown) {
        throw signal.aborted ? new AgentprotoError('cancelled', 'The check was cancelled') : thrown
      }
    },
    { signal: check.signal },
  )

type Report = (finding: PublishFinding) => void

async function findings(check: PublishCheck & Examined, report: Report): Promise<void> {
  const observed = await measured(check)
  if (!('protocolVersion' in observed)) {
    for (const each of withoutHandshake(observed.failed)) report(each)
    return
  }
  for (const each of observationFindings(observed)) report(each)
  await sessionFindings(check, observed.session !== 'opened', report)
}

/** What a failed handshake means for all checks. */
function withoutHandshake({ code, message }: FailedObservation['failed']): readonly PublishFinding[] {
  const seen = `${message} (${code})`
  const isMissing = code === 'agent_not_installed'
  const failed = isMissing
    ? finding('install', { verdict: 'fail', expected: 'an installed agent', seen })
    : finding('handshake', { verdict: 'fail', expected: 'an answer', seen })
  const reason = isMissing ? 'it is not installed' : 'it did not answer initialize'
  const others = PUBLISH_CHECKS.slice(PUBLISH_CHECKS.indexOf(failed.id) + 1)
  return [failed, ...others.map((id) => finding(id, { verdict: 'skipped', reason }))]
}

/** @throws `protocol_unsupported`, since there is nothing to check */
async function measured({ adapter, host, observed, signal }: PublishCheck & Examined): Promise<ObservedAgent> {
  if (observed !== undefined) return observed
  try {
    return await observeAgent({ adapter, host, signal })
  } catch (thrown) {
    if (signal.aborted || !isAgentprotoError(thrown) || thrown.code === 'protocol_unsupported') throw thrown
    return { at: new Date().toISOString(), failed: { code: thrown.code, message: thrown.message } }
  }
}

async function sessionFindings(check: PublishCheck & Examined, wasRefused: boolean, report: Report): Promise<void> {
  const { adapter, prompts, limits = {}, only } = check
  const { prompt: answer, longPrompt: long } = launchHints(adapter.manifest)
  const cwd = await realpath(await mkdtemp(join(tmpdir(), 'agentproto-publish-check-')))
  try {
    const own = { ...PROMPTS, ...(answer !== undefined && { answer }), ...(long !== undefined && { long }) }
    for await (const [id, verdict] of sessionVerdicts({
      ...check,
      cwd,
      limits,
      wasRefused,
      prompts: { ...own, ...prompts },
      only: only && AGENT_CASE_IDS.filter((each) => only.includes(each)),
    }))
      report(finding(id, verdict))
  } finally {
    await rm(cwd, { recursive: true, force: true, maxRetries: 3 })
  }
}
