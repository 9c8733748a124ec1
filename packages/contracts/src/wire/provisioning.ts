import type { z } from 'zod'
import type { AdapterCatalog, AdapterSummary } from '../agent/adapter-catalog.js'
import type { Principal } from '../principal.js'
import type { doctorRequestSchema, provisionRequestSchema } from './host-requests.js'
import type { SecretStatus } from '../agent/secret.js'

/** From a manifest to an agent that can be started (AIP-45 §Lifecycle, §Setup surface, §Auth surface). */

export type ProvisionPhase = 'install' | 'version_check' | 'setup' | 'login'
/** In the order in which they come. */
export const PROVISION_PHASES: readonly ProvisionPhase[] = ['install', 'version_check', 'setup', 'login']

/** AIP-29's states of a login; `not_needed` where the manifest has no `auth`. */
export type AuthState = 'not_needed' | 'unknown' | 'unauthed' | 'authed'

/** One setup step: where it stands, and what a caller without a terminal has to give for it. */
export interface SetupStepState {
  readonly id: string
  readonly kind: 'cmd' | 'prompt' | 'oauth' | 'external'
  readonly state: 'pending' | 'done' | 'skipped'
  readonly description?: string
  /** When it was done or skipped, ISO-8601. */
  readonly at?: string
  readonly needs?: SetupInput
}

/** What a pending step waits for. */
export type SetupInput =
  | {
      readonly kind: 'value'
      readonly prompt: string
      readonly type: 'text' | 'select' | 'boolean' | 'secret'
      readonly options?: readonly { readonly value: string; readonly label: string }[]
      readonly default?: string | number | boolean
      /** A page that tells the value, or on which something is to be done. */
      readonly url?: string
    }
  | { readonly kind: 'secret'; readonly slug: string }
  | { readonly kind: 'terminal'; readonly command: string }

/** How far an adapter's agent is provisioned on this host. */
export interface AdapterState {
  readonly slug: string
  readonly installed: boolean
  /** Absolute path of what is run. */
  readonly executable?: string
  /** The install method that succeeded here; absent where the agent was there already. */
  readonly method?: string
  /** As last checked. */
  readonly version?: string
  readonly versionRange: string
  readonly versionOk?: boolean
  readonly checkedAt?: string
  readonly setup: readonly SetupStepState[]
  readonly auth: AuthState
  /** The manifest's login command. */
  readonly login?: string
  /** The secrets that the manifest declares; never a value. */
  readonly secrets: readonly SecretStatus[]
  /** Whether a session can be started as far as this host can tell. */
  readonly ready: boolean
  /** What a person runs next. */
  readonly next?: string
}

export interface ProvisionRequest extends Readonly<z.infer<typeof provisionRequestSchema>> {
  /** The last phase to run; those before it run if needed. Default `install` with its version check. */
  readonly until: 'install' | 'setup' | 'login'
  readonly signal?: AbortSignal | undefined
}

/** What happens while an agent is provisioned, in order. Never holds a secret. */
export type ProvisionEvent =
  | {
      readonly type: 'phase'
      readonly phase: ProvisionPhase
      readonly state: 'started' | 'done' | 'skipped'
      readonly detail?: string
    }
  /** One install method: why it was skipped or failed, or what is run. */
  | {
      readonly type: 'method'
      readonly method: string
      readonly state: 'started' | 'done' | 'skipped' | 'failed'
      readonly detail?: string
    }
  | {
      readonly type: 'step'
      readonly step: string
      readonly kind: SetupStepState['kind']
      readonly state: 'started' | 'done' | 'skipped' | 'pending'
      readonly detail?: string
    }
  /** A line that an installer, a step or a login printed. */
  | { readonly type: 'output'; readonly stream: 'stdout' | 'stderr'; readonly line: string }
  /** Bytes that have come of a download. */
  | { readonly type: 'progress'; readonly bytes: number; readonly total?: number }
  | { readonly type: 'warning'; readonly message: string }
  /** The last one. */
  | { readonly type: 'state'; readonly state: AdapterState }

export interface DoctorRequest extends Readonly<z.infer<typeof doctorRequestSchema>> {
  readonly signal?: AbortSignal | undefined
}

/** One finding about an adapter's agent. */
export interface DoctorCheck {
  /** Stable, such as `version` or `live.resume`. */
  readonly id: string
  readonly title: string
  readonly verdict: 'ok' | 'warn' | 'fail' | 'skip'
  readonly detail: string
  /** What the manifest declares, and what was found, where the two are compared. */
  readonly declared?: string
  readonly found?: string
  readonly hint?: string
}

/** The adapters of a gateway, and what can be done to them. */
export interface AdapterService extends AdapterCatalog {
  /** @throws `adapter_not_found` */
  state(slug: string): Promise<AdapterState>
  /**
   * Runs the phases that are not done, up to `until`. Who asks is for the audit log; so below. Leaving the iteration ends what runs; what was done stays done.
   * The iteration throws `adapter_not_found`, `install_failed`, `version_mismatch`, `setup_required` (with `pending`),
   * `setup_failed` (with `step`), `auth_required`, `provisioning_busy`, `cancelled`.
   */
  provision(slug: string, request: ProvisionRequest, by?: Principal): AsyncIterable<ProvisionEvent>
  /**
   * Adds or replaces an adapter of the owner's.
   * @param source folder with an AGENT-CLI.md, absolute, or an npm package that has one
   * @throws `manifest_invalid`, `path_invalid`, `install_failed`
   */
  add(source: string, by?: Principal): Promise<AdapterSummary>
  /** Examines an adapter's agent, one finding after the other. @throws `adapter_not_found` */
  doctor(slug: string, request: DoctorRequest, by?: Principal): AsyncIterable<DoctorCheck>
  /** Every secret that is stored or declared; never a value. */
  secrets(): Promise<readonly SecretStatus[]>
}
