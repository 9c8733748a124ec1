import { asRecord, defined } from '@agentproto/contracts'
import type { AgentObservation, ObservedAgent } from '@agentproto/contracts/agent'
import type { AgentAnswers } from './manifest-template.js'

/** What was measured, as `metadata.agentproto.observed` has it: with keys in the style of manifests. */
export const observedBlock = (observed: ObservedAgent): Readonly<Record<string, unknown>> =>
  asRecord(renamed(observed, (key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)))

/** The members that a manifest's `observed` stands for; what they are worth is the reader's to check. */
export const observedMembers = (block: unknown): unknown =>
  renamed(block, (key) => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()))

/** What a manifest declares of an agent that answered. */
export function answersOf(observation: AgentObservation): AgentAnswers {
  const { agentName, agentVersion, capabilities, modes, models, model, logins } = observation
  const { load, image, audio, embeddedContext, mcpHttp, mcpSse } = capabilities
  return {
    ...defined({ name: agentName, version: agentVersion, defaultModel: model }),
    loadSession: load,
    image,
    audio,
    embeddedContext,
    mcpHttp,
    mcpSse,
    modes,
    models,
    logins,
  }
}

function renamed(value: unknown, rename: (key: string) => string): unknown {
  if (Array.isArray(value)) return value.map((item: unknown) => renamed(item, rename))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [rename(key), renamed(member, rename)]))
}
