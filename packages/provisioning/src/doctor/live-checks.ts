import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { systemClock } from '@agentproto/contracts'
import type { RunningAgent, SessionOrigin } from '@agentproto/contracts/agent'
import type { DoctorCheck } from '@agentproto/contracts/wire'
import { launchHints } from '@agentproto/driver-agent-cli/installation'
import { remoteAddress } from '@agentproto/manifest'
import { startExamined } from '../start-examined.js'
import { capabilityChecks } from './capability-checks.js'
import type { RunningExamination } from './examination.js'
import { Listener } from './listener.js'

const PROMPT = 'Reply with the single word: ready'
const LONG_PROMPT = 'Count from 1 to 500 in words, one number a line. Use no tool.'
/** A model may think for a while. */
const ANSWER_MS = 120_000
const CANCEL_MS = 30_000

/** Starts the agent in an empty folder, prompts it, and ends it. Each step is a finding. */
export async function liveChecks(examination: RunningExamination): Promise<void> {
  // A new folder would not be there where an agent runs that runs elsewhere.
  const isRemote = remoteAddress(examination.adapter.manifest) !== undefined
  const cwd = await realpath(isRemote ? tmpdir() : await mkdtemp(join(tmpdir(), 'agentproto-doctor-')))
  try {
    const first = await start(examination, { cwd, origin: { how: 'new' }, id: 'live.start', title: 'Starts' })
    if (first === undefined) return
    const resumes = await firstSession(first, examination)
    if (resumes === undefined || examination.signal.aborted) return
    await secondSession(examination, cwd, resumes)
  } finally {
    if (!isRemote) await rm(cwd, { recursive: true, force: true, maxRetries: 3 })
  }
}

interface Live {
  readonly agent: RunningAgent
  readonly listener: Listener
}

/** @returns how the session can be resumed, where it can */
async function firstSession(live: Live, examination: RunningExamination): Promise<SessionOrigin | undefined> {
  const { adapter, request, report, signal } = examination
  const { agent, listener } = live
  const hints = launchHints(adapter.manifest)
  let answered = false
  try {
    for (const check of capabilityChecks(adapter, agent.info)) report(check)
    answered = await answers(live, examination, {
      id: 'live.prompt',
      title: 'Answers',
      text: request.prompt ?? hints.prompt ?? PROMPT,
    })
    if (answered && !signal.aborted) {
      if (adapter.manifest.capabilities.streaming) report(streamingCheck(listener))
      await interrupted(live, examination, request.longPrompt ?? hints.longPrompt ?? LONG_PROMPT)
    }
  } finally {
    await ends(live, examination)
  }
  return resumeOrigin(agent, answered, report)
}

async function secondSession(examination: RunningExamination, cwd: string, origin: SessionOrigin): Promise<void> {
  const { request, adapter, signal } = examination
  const { resumeAfterMs, prompt = PROMPT } = launchHints(adapter.manifest)
  // Sooner, such an agent would damage its record of the conversation. A timer of the clock keeps no process alive.
  await setTimeout(resumeAfterMs, undefined, { signal })
  const live = await start(examination, { cwd, origin, id: 'live.resume', title: 'Resumes' })
  if (live === undefined) return
  try {
    const check = { id: 'live.resumed-prompt', title: 'Answers again', text: request.prompt ?? prompt }
    await answers(live, examination, check)
  } finally {
    await live.agent.stop().catch(() => undefined)
  }
}

interface Starting extends Pick<DoctorCheck, 'id' | 'title'> {
  readonly cwd: string
  readonly origin: SessionOrigin
}

async function start(examination: RunningExamination, { cwd, origin, id, title }: Starting): Promise<Live | undefined> {
  const { host, report, signal } = examination
  const clock = host.clock ?? systemClock
  const listener = new Listener(clock, signal)
  const began = clock.now()
  try {
    const agent = await startExamined(examination, { cwd, origin, sink: listener })
    const how = origin.how === 'new' ? '' : ` by ${origin.how}`
    report({ id, title, verdict: 'ok', detail: `ready after ${clock.now() - began} ms${how}${named(agent)}` })
    return { agent, listener }
  } catch (thrown) {
    if (signal.aborted) throw thrown
    report({ id, title, verdict: 'fail', detail: thrown instanceof Error ? thrown.message : String(thrown) })
    return undefined
  }
}

const named = ({ info: { name, version } }: RunningAgent): string =>
  name === undefined ? '' : `: ${name}${version === undefined ? '' : ` ${version}`}`

async function answers(
  { agent, listener }: Live,
  { report }: RunningExamination,
  { text, ...check }: Pick<DoctorCheck, 'id' | 'title'> & { readonly text: string },
): Promise<boolean> {
  const turn = listener.turn(() => agent.send([{ type: 'text', text }]))
  const end = await turn.ended(ANSWER_MS)
  if (end === undefined) await agent.cancel()
  const fine = end?.reason === 'end_turn' && end.empty !== true && turn.error === undefined
  const why =
    end === undefined
      ? `no answer within ${ANSWER_MS / 1_000} s`
      : (turn.error ?? `the turn ended with ${end.reason}${end.empty === true ? ', empty' : ''}`)
  report({ ...check, verdict: fine ? 'ok' : 'fail', detail: fine ? excerpt(turn.text) : why })
  return fine
}

const excerpt = (text: string): string => {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  return line.length > 60 ? `${line.slice(0, 57)}...` : line
}

const streamingCheck = ({ deltas }: Listener): DoctorCheck => ({
  id: 'capability.streaming',
  title: 'Streams its text',
  verdict: deltas > 0 ? 'ok' : 'fail',
  detail: deltas > 0 ? 'text came in pieces' : 'it answered without a piece of text',
  declared: 'yes',
  found: deltas > 0 ? 'yes' : 'no',
})

/** The turn must have started: a cancel before the first output proves nothing. */
async function interrupted({ agent, listener }: Live, { report }: RunningExamination, text: string): Promise<void> {
  const base = { id: 'live.interrupt', title: 'Is interrupted' }
  const turn = listener.turn(() => agent.send([{ type: 'text', text }]))
  await turn.begun(ANSWER_MS)
  await agent.cancel()
  const end = await turn.ended(CANCEL_MS)
  if (end?.reason === 'cancelled') return report({ ...base, verdict: 'ok', detail: 'the turn ended as cancelled' })
  if (end === undefined) return report({ ...base, verdict: 'fail', detail: `it continued for ${CANCEL_MS / 1_000} s` })
  report({
    ...base,
    verdict: 'warn',
    detail: turn.error ?? `the turn ended with ${end.reason} before it could be interrupted`,
  })
}

async function ends({ agent }: Live, { report }: RunningExamination): Promise<void> {
  const base = { id: 'live.end', title: 'Ends' }
  try {
    const { exitCode, signal } = await agent.stop()
    const how = exitCode === undefined ? `by ${signal ?? 'itself'}` : `with ${exitCode}`
    report({ ...base, verdict: 'ok', detail: `it ended ${how}, and nothing of it runs` })
  } catch (thrown) {
    report({ ...base, verdict: 'fail', detail: thrown instanceof Error ? thrown.message : String(thrown) })
  }
}

function resumeOrigin(
  agent: RunningAgent,
  answered: boolean,
  report: RunningExamination['report'],
): SessionOrigin | undefined {
  const { load, resume } = agent.info.capabilities
  const { agentSessionId } = agent
  if (answered && agentSessionId !== '' && (load || resume)) return { how: resume ? 'resume' : 'load', agentSessionId }
  const detail = answered ? 'the agent offers neither load nor resume' : 'there is no conversation to resume'
  report({ id: 'live.resume', title: 'Resumes', verdict: 'skip', detail })
  return undefined
}
