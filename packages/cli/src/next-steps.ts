import { AgentprotoError, type ErrorCode, isAgentprotoError, type Session } from '@agentproto/contracts'

/** What to run after a failure, by error code. The gateway does not know the command line. */
export type NextSteps = Readonly<Partial<Record<ErrorCode, Step>>>

/** A sentence, or what makes it from what is known only after the failure. */
type Step = string | ((error: AgentprotoError) => Promise<string>)

/** Does work. Replaces the hint of its error where `steps` has a sentence for that code. */
export async function withNextStep<T>(steps: NextSteps, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    const step = isAgentprotoError(thrown) ? steps[thrown.code] : undefined
    if (step === undefined || !isAgentprotoError(thrown)) throw thrown
    throw withHint(thrown, typeof step === 'string' ? step : await step(thrown))
  }
}

/** The message holds what was expected and given; only its end is replaced. */
function withHint(error: AgentprotoError, step: string): AgentprotoError {
  const { hint, data = {}, given } = error.parts
  const message = hint === undefined ? error.message : error.message.replace(hint, '').replace(/[\s.]+$/, '')
  const replaced = new AgentprotoError(error.code, message, { hint: step, data, cause: error })
  // What was given is in the message already; who suggests another name needs it alone.
  return given === undefined ? replaced : Object.assign(replaced, { parts: { ...replaced.parts, given } })
}

/** When an agent cannot be started. */
export const startSteps = (adapter: string): NextSteps => ({
  agent_not_installed: `Install it with: agentproto adapters install ${adapter}`,
  no_adapter_installed: `Install it with: agentproto adapters install ${adapter}`,
  auth_required: `Log in with: agentproto adapters login ${adapter}`,
  setup_required: `Set it up with: agentproto adapters setup ${adapter}`,
  adapter_not_found: 'See the agents with: agentproto adapters list',
})

/** The session that a command is about, as it was named, and how to read it again. */
export interface SessionInStep {
  readonly ref: string
  readonly session: Session
  read(): Promise<Session>
}

/** When a session cannot be resumed. */
export const resumeSteps = (of: SessionInStep): NextSteps => ({
  not_resumable: (error) => stepAfterEnd(of, { mayContinue: false, isFinal: error.parts.data?.['final'] === true }),
})

/** When a prompt is refused. */
export const promptSteps = (of: SessionInStep): NextSteps => ({
  turn_in_progress: `Wait for it with: agentproto sessions wait ${of.ref}, or add --when-busy queue`,
  session_ended: () => stepAfterEnd(of, { mayContinue: true }),
  ...resumeSteps(of),
})

/** A conversation that is lost needs `--fresh`; some sessions never start again. */
async function stepAfterEnd(
  { ref, session, read }: SessionInStep,
  { mayContinue, isFinal = false }: { readonly mayContinue: boolean; readonly isFinal?: boolean },
): Promise<string> {
  const now = await read().catch(() => session)
  if (isFinal || isOver(now)) return `Start another session with: agentproto sessions start ${now.adapterSlug}`
  if (mayContinue && now.resumable) return `Start its agent again with: agentproto sessions resume ${ref}`
  return `Start a new conversation in it with: agentproto sessions resume ${ref} --fresh`
}

/** Sessions that an agent has started, and imported ones, are not resumed. */
const isOver = ({ parentSessionId, imported }: Session): boolean =>
  parentSessionId !== undefined || imported !== undefined
