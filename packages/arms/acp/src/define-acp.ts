import { type AgentInfo, AgentprotoError, asRecord } from '@agentproto/contracts'
import type { ArmConnection, ArmConnectOptions } from '@agentproto/contracts/agent'
import * as z from 'zod'
import { acpArm } from './arm.js'
import { endpointOf } from './network/remote-endpoint.js'

const flag = z.boolean().optional()
const tier = z.enum(['basic', 'governance-aware', 'sandboxed'])
const transport = z.enum(['stdio', 'websocket'])

const agentCapabilities = z.strictObject({
  loadSession: flag,
  promptCapabilities: z.strictObject({ image: flag, audio: flag, embeddedContext: flag }).optional(),
  mcpCapabilities: z.strictObject({ http: flag, sse: flag }).optional(),
})

/** The front matter of an ACP.md; what the profile does not name is kept. */
const profileSchema = z.looseObject({
  name: z.string().min(1),
  id: z.string().min(1),
  description: z.string().min(1),
  version: z.string().min(1),
  kind: z.enum(['client', 'server', 'bridge']),
  transport: z.union([transport, z.array(transport).min(1)]),
  metadata: z.looseObject({
    aip44: z.looseObject({
      acp_rev: z.string().regex(/^[a-f0-9]{7,40}$/),
      tier,
      capabilities: z.strictObject({ client: z.unknown().optional(), agent: agentCapabilities.optional() }).optional(),
    }),
  }),
})

/** AIP-44's profile of one agent, as written in its ACP.md. */
export type AcpProfile = z.input<typeof profileSchema>

/** A checked profile. */
export interface AcpHandle {
  readonly profile: AcpProfile
  /** What the profile promises and the running agent did not offer. */
  missing(info: AgentInfo): readonly string[]
  /**
   * Spawns the agent and speaks ACP with it, or connects with one whose `options.profile` has an endpoint; see {@link acpArm}.
   * @throws `protocol_unsupported` for a transport that the profile does not list
   */
  connect(options: ArmConnectOptions): Promise<ArmConnection>
}

/**
 * Defines an ACP profile (AIP-44).
 * @throws `manifest_invalid`, naming every field that is wrong
 */
export function defineAcp(profile: AcpProfile): AcpHandle {
  const parsed = profileSchema.safeParse(profile)
  if (!parsed.success) {
    const problems = parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
    throw new AgentprotoError('manifest_invalid', `The ACP profile is not valid: ${problems.join('; ')}`, {
      data: { problems },
    })
  }
  const transports = [parsed.data.transport].flat()
  const promised = promises(parsed.data)
  return {
    profile,
    missing: ({ capabilities }) => promised.filter((name) => !capabilities[PROMISES[name]]),
    connect: async (options) => {
      // stdio counts unless there is an endpoint.
      const wanted = endpointOf(options.profile) === undefined ? 'stdio' : 'websocket'
      if (transports.includes(wanted)) return acpArm.connect(options)
      throw new AgentprotoError('protocol_unsupported', 'The ACP profile does not list the transport', {
        expected: transports.join(', '),
        given: wanted,
        ...(wanted === 'stdio' && { hint: 'Pass { profile: { endpoint } }, which says where the agent is' }),
      })
    },
  }
}

/** What a profile can promise, and what the agent then offers. */
const PROMISES = {
  loadSession: 'load',
  'promptCapabilities.image': 'image',
  'promptCapabilities.audio': 'audio',
  'promptCapabilities.embeddedContext': 'embeddedContext',
  'mcpCapabilities.http': 'mcpHttp',
  'mcpCapabilities.sse': 'mcpSse',
} as const
type Promised = keyof typeof PROMISES
const ALL = Object.keys(PROMISES) as readonly Promised[]

const TIERS: Readonly<Record<z.infer<typeof tier>, readonly Promised[]>> = {
  basic: [],
  'governance-aware': ['loadSession'],
  sandboxed: ['loadSession', 'mcpCapabilities.http', 'mcpCapabilities.sse'],
}

/** What is promised, by the profile itself or by its tier's defaults. */
function promises({ metadata }: z.output<typeof profileSchema>): readonly Promised[] {
  const { capabilities, tier: kind } = metadata.aip44
  if (!capabilities) return TIERS[kind]
  const isPromised = (name: Promised): boolean =>
    name.split('.').reduce<unknown>((at, key) => asRecord(at)[key], capabilities.agent) === true
  return ALL.filter(isPromised)
}
