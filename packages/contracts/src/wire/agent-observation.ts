import * as z from 'zod'
import { ENDINGS } from '../agent/agent-ending.js'
import type { ErrorCode } from '../errors.js'
import type { AgentCapabilities } from '../session.js'
import { count, time } from './session-responses.js'
import { of, type ValueOf } from './value-of.js'

// What was measured of an agent. It is in its manifest, at `metadata.agentproto.observed`, and in answers about its adapter.

/** Most entries of a list. */
const LIST_MAX = 200
/** A text of the agent: one line without control characters, cut. */
const text = z.string().max(200)
const failure = z.strictObject({
  code: of<ErrorCode>(z.string().max(50)),
  message: text,
  agentCode: z.int().optional().describe('The number of the agent’s JSON-RPC error'),
})

const capabilities = of<AgentCapabilities>(
  z.strictObject({
    load: z.boolean(),
    resume: z.boolean(),
    list: z.boolean(),
    close: z.boolean(),
    fork: z.boolean(),
    delete: z.boolean().optional(),
    image: z.boolean(),
    audio: z.boolean(),
    embeddedContext: z.boolean(),
    mcpHttp: z.boolean(),
    mcpSse: z.boolean(),
    additionalDirectories: z.boolean(),
  }),
)

const named = { id: text, name: text }

export const agentObservation = z.strictObject({
  at: time,
  agentName: text.optional(),
  agentVersion: text.optional(),
  protocolVersion: z.int(),
  handshakeMs: count.describe('From the spawn to the answer to `initialize`'),
  capabilities,
  modes: z.array(z.strictObject({ ...named, description: text.optional() })).max(LIST_MAX),
  models: z.array(text).max(LIST_MAX).describe('Their ids'),
  mode: text.optional().describe('In which a session begins'),
  model: text.optional().describe('With which a session begins'),
  logins: z.array(z.strictObject({ ...named, needsTerminal: z.boolean() })).max(LIST_MAX),
  session: z
    .union([z.literal('opened'), z.strictObject({ refused: failure })])
    .describe('Whether it opened a session without any login'),
  ends: z.enum(ENDINGS).describe('What ended it'),
  endMs: count.describe('From the end of its stdin to its own end'),
  stdoutNoise: z
    .strictObject({ lines: count, first: text.optional() })
    .describe('Lines of stdout that are no JSON-RPC'),
  leaves: z
    .strictObject({
      processes: z.array(text).max(20).describe('Names of processes that outlived it, or had left it; they were ended'),
      files: count,
      bytes: count,
    })
    .describe('What it left, running and in an empty home'),
})
/** What an agent was seen to do at a handshake in an empty folder, with an empty home and without a login. */
export type AgentObservation = ValueOf<typeof agentObservation>

const failedObservation = z.strictObject({ at: time, failed: failure })
/** An agent whose handshake failed. */
export type FailedObservation = ValueOf<typeof failedObservation>

export const observedAgent = z.union([agentObservation, failedObservation])
/** What was measured of an agent, or why nothing could be. */
export type ObservedAgent = ValueOf<typeof observedAgent>
