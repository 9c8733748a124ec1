import type { z } from 'zod'
import type { AdapterCatalog, AdapterSummary } from '../agent/adapter-catalog.js'
import type { Principal } from '../principal.js'
import type { doctorRequestSchema, provisionRequestSchema } from './host-requests.js'
import type { SecretStatus } from '../agent/secret.js'

/** From a manifest to an agent that can be started (AIP-45 §Lifecycle, §Setup surface, §Auth surface). */

export type ProvisionPhase = 'install' | 'version_check' | 'setup' | 'login'
/** In the order in which they run. */
export const PROVISION_PHASES: readonly ProvisionPhase[] = ['install', 'version_check', 'setup', 'login']

/** AIP-29's states of a login; `not_needed` if the manifest has no `auth`. */
export type AuthState = 'not_needed' | 'unknown' | 'unauthed' | 'authed'

/** One setup step, and the input that it needs. */
export interface SetupStepState {
  readonly id: string
  readonly kind: 'cmd' | 'prompt' | 'oauth' | 'external'
  readonly state: 'pending' | 'done' | 'skipped'
  readonly description?: string
  /** When it was done or skipped, ISO-8601. */
  readonly at?: string
  readonly needs?: SetupInput
}

/** The input that a pending step needs. */
export type SetupInput =
  | {
      readonly kind: 'value'
      readonly prompt: string
      readonly type: 'text' | 'select' | 'boolean' | 'secret'
      readonly options?: readonly { readonly value: string; readonly label: string }[]
      readonly default?: string | number | boolean
      /** A page that shows the value, or on which the user has to do something. */
      readonly url?: string
    }
  | { readonly kind: 'secret'; readonly slug: string }
  | { readonly kind: 'terminal'; readonly command: string }

/** The provisioning state of an agent on this host. */
export interface AdapterState {
  readonly slug: string
  readonly installed: boolean
  /** Absolute path of the executable. */
  readonly executable?: string
  /** The install method that succeeded; absent if the agent was already installed. */
  readonly method?: string
  /** At the last check. */
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
  /** Whether a session can be started, as far as this host knows. */
  readonly ready: boolean
  /** The next command to run. */
  readonly next?: string
}

export interface ProvisionRequest extends Readonly<z.infer<typeof provisionRequestSchema>> {
  /** The last phase to run; those before it run if needed. Default `install` with its version check. */
  readonly until: 'install' | 'setup' | 'login'
  readonly signal?: AbortSignal | undefined
}

/** Progress of provisioning, in order. Never contains a secret. */
export type ProvisionEvent =
  | {
      readonly type: 'phase'
      readonly phase: ProvisionPhase
      readonly state: 'started' | 'done' | 'skipped'
      readonly detail?: string
    }
  /** An install method: what it runs, or why it was skipped or failed. */
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
  /** Bytes of a download. */
  | { readonly type: 'progress'; readonly bytes: number; readonly total?: number }
  | { readonly type: 'warning'; readonly message: string }
  /** The last event. */
  | { readonly type: 'state'; readonly state: AdapterState }

export interface DoctorRequest extends Readonly<z.infer<typeof doctorRequestSchema>> {
  readonly signal?: AbortSignal | undefined
}

/** One finding about an agent. */
export interface DoctorCheck {
  /** Stable, such as `version` or `live.resume`. */
  readonly id: string
  readonly title: string
  readonly verdict: 'ok' | 'warn' | 'fail' | 'skip'
  readonly detail: string
  /** What the manifest declares and what was found, if they were compared. */
  readonly declared?: string
  readonly found?: string
  readonly hint?: string
}

/** The adapters of a gateway and their provisioning. */
export interface AdapterService extends AdapterCatalog {
  /** @throws `adapter_not_found` */
  state(slug: string): Promise<AdapterState>
  /**
   * Runs the phases that are not done, up to `until`. Leaving the iteration cancels the work; finished phases stay done.
   * The iteration throws `adapter_not_found`, `install_failed`, `version_mismatch`, `setup_required` (with `pending`),
   * `setup_failed` (with `step`), `auth_required`, `provisioning_busy`, `cancelled`.
   */
  provision(slug: string, request: ProvisionRequest, by?: Principal): AsyncIterable<ProvisionEvent>
  /**
   * Adds or replaces an adapter of the owner.
   * @param source Absolute folder with an AGENT-CLI.md, or npm package with one
   * @param by The caller, for the audit log
   * @throws `manifest_invalid`, `path_invalid`, `install_failed`
   */
  add(source: string, by?: Principal): Promise<AdapterSummary>
  /** Checks an agent, one finding after the other. @throws `adapter_not_found` */
  doctor(slug: string, request: DoctorRequest, by?: Principal): AsyncIterable<DoctorCheck>
  /** The secrets that are stored or declared; never a value. */
  secrets(): Promise<readonly SecretStatus[]>
}
