import { AgentprotoError, type ErrorCode, isAgentprotoError } from '@agentproto/contracts'

/** What to run after a failure, by error code. The gateway does not know the command line. */
export type NextSteps = Readonly<Partial<Record<ErrorCode, string>>>

/** Does work. Replaces the hint of its error where `steps` has a sentence for that code. */
export async function withNextStep<T>(steps: NextSteps, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (thrown) {
    const step = isAgentprotoError(thrown) ? steps[thrown.code] : undefined
    if (step === undefined || !isAgentprotoError(thrown)) throw thrown
    const { hint, data = {} } = thrown.parts
    // The message holds what was expected and given; only its end is replaced.
    const message = hint === undefined ? thrown.message : thrown.message.replace(hint, '').replace(/[\s.]+$/, '')
    throw new AgentprotoError(thrown.code, message, { hint: step, data, cause: thrown })
  }
}

/** When an agent cannot be started. */
export const startSteps = (adapter: string): NextSteps => ({
  agent_not_installed: `Install it with: agentproto adapters install ${adapter}`,
  no_adapter_installed: `Install it with: agentproto adapters install ${adapter}`,
  auth_required: `Log in with: agentproto adapters login ${adapter}`,
  setup_required: `Set it up with: agentproto adapters setup ${adapter}`,
  adapter_not_found: 'See the agents with: agentproto adapters list',
})

/** When a session cannot be resumed. */
export const resumeSteps = (ref: string): NextSteps => ({
  not_resumable: `Start a new conversation in it with: agentproto sessions resume ${ref} --fresh, or start another session with: agentproto sessions start <adapter>`,
})

/** When a prompt is refused. */
export const promptSteps = (ref: string): NextSteps => ({
  turn_in_progress: `Wait for it with: agentproto sessions wait ${ref}, or add --when-busy queue`,
  session_ended: `Start its agent again with: agentproto sessions resume ${ref}`,
  ...resumeSteps(ref),
})
