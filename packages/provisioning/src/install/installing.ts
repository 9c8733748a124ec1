import type { ProvisionEvent } from '@agentproto/contracts/wire'
import type { AgentCliManifest, InstallMethod } from '@agentproto/manifest'
import type { ProvisionHost } from '../provision-host.js'

/** What the manifest says of one install method. */
export type Method<Name extends InstallMethod['method']> = Extract<InstallMethod, { method: Name }>

/** The context of every install method. */
export interface Installing {
  readonly manifest: AgentCliManifest
  /** Folder of the manifest. */
  readonly directory: string
  readonly host: ProvisionHost
  readonly platform: { readonly os: NodeJS.Platform; readonly arch: NodeJS.Architecture }
  /** Folder of the agent's own, below the home. */
  readonly prefix: string
  /** Whether a file without a checksum may be run. */
  readonly allowUnverified: boolean
  /** Install the newest version, whatever the manifest pins. */
  readonly latest?: boolean
  /** Install a version in this semver range, not the newest. */
  readonly range?: string
  readonly emit: (event: ProvisionEvent) => void
  readonly signal: AbortSignal
}

/** A method that cannot be tried here, with the reason; any other failure is thrown. */
export class MethodSkipped extends Error {}
