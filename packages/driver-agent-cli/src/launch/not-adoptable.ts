import { AgentprotoError } from '@agentproto/contracts'

/** @param reason for people */
export const notAdoptable = (reason: string): AgentprotoError =>
  new AgentprotoError('not_adoptable', `The agent cannot be taken over: ${reason}`, {
    hint: 'End the agent and resume the session.',
  })
