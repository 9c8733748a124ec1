import type { SessionSandbox } from '@agentproto/contracts'
import { asNumber, asRecord, asString, defined, isRecord, type Json } from '@agentproto/contracts'
import type { ProtocolArm } from '@agentproto/contracts/agent'
import { type AgentCliManifest, remoteAddress } from '@agentproto/manifest'
import type { AgentHost } from '../agent-host.js'
import type { ConfinedAgent } from './confine-agent.js'
import { manifestHint } from './manifest-hint.js'
import { notAdoptable } from './not-adoptable.js'
import type { SharedProcesses } from './shared-process.js'

/** What a later host must know of a launch. It has no secrets. */
export interface LaunchFacts {
  readonly sandbox: SessionSandbox
  /** Whether the process is not confined. */
  readonly isPlain: boolean
  /** What holds its sandbox again; absent where nothing of it is held. */
  readonly held?: Json | undefined
  readonly isInstructed: boolean
  readonly warnings: readonly string[]
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  /** `limits.timeout_ms` of its sandbox. */
  readonly timeoutMs?: number | undefined
}

export interface Keeping {
  readonly manifest: AgentCliManifest
  readonly host: AgentHost
  readonly arm: ProtocolArm
  /** Whether there is a process; a server behind a URL has none. */
  readonly isLaunched: boolean
  readonly confined: Pick<ConfinedAgent, 'plain' | 'endsWithHost'>
  /** Why the agent must end with its host. */
  readonly endsWithHost?: string | undefined
}

/** Whether a launch is kept, or why it is not although the host has a keeper. */
export function mayKeep(keeping: Keeping): { readonly isKept: boolean; readonly warnings: readonly string[] } {
  if (!keeping.host.keeper) return { isKept: false, warnings: [] }
  const reason = obstacle(keeping)
  return { isKept: reason === undefined, warnings: reason === undefined ? [] : [endsWithGateway(reason)] }
}

/** The warning of an agent that is not kept. */
export const endsWithGateway = (reason: string): string => `The agent ends with its gateway: ${reason}.`

function obstacle({ manifest, host, arm, isLaunched, confined, endsWithHost }: Keeping): string | undefined {
  if (endsWithHost !== undefined) return endsWithHost
  if (process.platform === 'win32') return 'agents are not kept on Windows'
  if (!isLaunched) return 'it is behind a URL, and the gateway holds the connection'
  if (!arm.adopt) return `an agent that speaks ${arm.protocol} cannot be taken over`
  if (arm.protocol === 'proprietary' && !confined.plain)
    return 'its adapter package starts each process in a sandbox that this gateway has made'
  if (sharedProcessesFor({ manifest, host, confined }) && !arm.adoptShared)
    return `several sessions share its process, and ${arm.protocol} cannot keep them apart`
  return confined.endsWithHost
}

/** The processes that agents of this kind share. A process that is confined for one session is not shared. */
export function sharedProcessesFor({
  manifest,
  host,
  confined,
}: Pick<Keeping, 'manifest' | 'host'> & { readonly confined: Pick<ConfinedAgent, 'plain'> }):
  | SharedProcesses
  | undefined {
  const isShared = remoteAddress(manifest) === undefined && manifestHint(manifest, 'process') === 'shared'
  return confined.plain && isShared ? host.sharedProcesses : undefined
}

/** The part of the facts that is of the host. */
export const hostFacts = (facts: LaunchFacts): Json => defined({ ...facts })

/** @param host {@link hostFacts} @throws `not_adoptable` */
export function readLaunchFacts(host: Json): LaunchFacts {
  const { sandbox, isPlain, held, isInstructed, warnings, startedAt, timeoutMs } = host
  const { provider, enforced, reason } = asRecord(sandbox)
  const started = asNumber(startedAt)
  const isWhole =
    typeof provider === 'string' &&
    typeof enforced === 'boolean' &&
    typeof isPlain === 'boolean' &&
    (held === undefined || isRecord(held)) &&
    typeof isInstructed === 'boolean' &&
    isTexts(warnings) &&
    started !== undefined
  if (!isWhole) throw notAdoptable('what is stored of its launch cannot be read')
  return {
    sandbox: { provider, enforced, ...defined({ reason: asString(reason) }) },
    isPlain,
    held,
    isInstructed,
    warnings,
    startedAt: started,
    timeoutMs: asNumber(timeoutMs),
  }
}

const isTexts = (value: unknown): value is readonly string[] =>
  Array.isArray(value) && value.every((text) => typeof text === 'string')
