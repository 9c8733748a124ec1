import { AgentprotoError, isRecord } from '@agentproto/contracts'
import type { AgentCliCapabilities } from '@agentproto/contracts/agent'

/** An adapter package that a host allows, at one version. */
export interface AllowedAdapter {
  /** Its exact version. That of an imported function is the host's own word. */
  readonly version: string
  /** Absolute path or file URL of its module, or a function that imports it. */
  readonly module: string | URL | (() => Promise<unknown>)
}

/** What the arm needs beside the launch: which adapter drives the agent, and how the session begins. */
export interface ProprietaryProfile {
  /** Name of the package, as the manifest's `adapter` has it. */
  readonly adapter: string
  /** What this host allows, by the packages' names. */
  readonly allowed: Readonly<Record<string, AllowedAdapter>>
  readonly capabilities: AgentCliCapabilities
  /** `metadata.agentproto.adapter` of the manifest, which the adapter parses. */
  readonly settings?: unknown
  /** The conversation to go on with. */
  readonly resume?: string
  readonly additionalDirectories?: readonly string[]
}

/** @throws `protocol_unsupported` when the profile names no adapter */
export function parseProfile(profile: unknown): ProprietaryProfile {
  if (
    isRecord(profile) &&
    typeof profile['adapter'] === 'string' &&
    isRecord(profile['allowed']) &&
    isRecord(profile['capabilities'])
  ) {
    return profile as unknown as ProprietaryProfile
  }
  throw new AgentprotoError('protocol_unsupported', 'No adapter package is named for the agent', {
    expected: 'a profile with the adapter, the packages that the host allows, and the capabilities',
  })
}
