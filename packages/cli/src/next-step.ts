import { AgentprotoError, type ErrorCode, isAgentprotoError } from '@agentproto/contracts'

/** What to run after a failure, by its code; the gateway does not know what people type. */
export type NextSteps = Readonly<Partial<Record<ErrorCode, string>>>

/** Does work; what it throws tells what to run next. */
export async function orNextStep<T>(steps: NextSteps, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    throw withNextStep(thrown, steps)
  }
}

/**
 * The same error with another next step, where there is one for it.
 * @param steps Whole sentences, each with the command to run
 */
function withNextStep(thrown: unknown, steps: NextSteps): unknown {
  const step = isAgentprotoError(thrown) ? steps[thrown.code] : undefined
  if (step === undefined || !isAgentprotoError(thrown)) return thrown
  const { hint, data = {} } = thrown.parts
  // The sentence holds what was expected and given; only its end is replaced.
  const told = hint === undefined ? thrown.message : thrown.message.replace(hint, '').replace(/[\s.]+$/, '')
  return new AgentprotoError(thrown.code, told, { hint: step, data, cause: thrown })
}

/** After an agent that could not be started. */
export const agentSteps = (adapter: string): NextSteps => ({
  agent_not_installed: `Install it with: agentproto adapters install ${adapter}`,
  no_adapter_installed: `Install it with: agentproto adapters install ${adapter}`,
  auth_required: `Log in with: agentproto adapters login ${adapter}`,
  setup_required: `Set it up with: agentproto adapters setup ${adapter}`,
  adapter_not_found: 'See the agents with: agentproto adapters list',
})

/** After a session that could not be taken up again. */
export const resumeSteps = (ref: string): NextSteps => ({
  not_resumable: `Begin a new conversation in it with: agentproto sessions resume ${ref} --fresh, or start another with: agentproto sessions start <adapter>`,
})

/** After a prompt that was not taken. */
export const promptSteps = (ref: string): NextSteps => ({
  turn_in_progress: `Wait for its end with: agentproto sessions wait ${ref}, or give --when-busy queue`,
  session_ended: `Start its agent again with: agentproto sessions resume ${ref}`,
  ...resumeSteps(ref),
})
