import type { z } from 'zod'
import type { Principal } from '../principal.js'
import type { doctorRequestSchema, provisionRequestSchema } from './host-requests.js'
import type {
  AdapterRemoved,
  AdapterState,
  AdapterSummary,
  DoctorCheck,
  SecretStatus,
  SetupStepState,
} from './host-responses.js'

/** From a manifest to an agent that can be started (AIP-45 §Lifecycle, §Setup surface, §Auth surface). */

/** AIP-29's states of a login; `not_needed` if the manifest has no `auth`. */
export type AuthState = AdapterState['auth']

/** In the order in which they run. */
export type ProvisionPhase = 'install' | 'version_check' | 'setup' | 'login'

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
  /** A file that is downloaded whole, before it is used. */
  | {
      readonly type: 'download'
      readonly url: string
      readonly bytes: number
      /** Lower-case hexadecimal. */
      readonly sha256: string
      /** Whether the manifest has that checksum. */
      readonly verified: boolean
    }
  | { readonly type: 'warning'; readonly message: string }
  /** The last event. */
  | { readonly type: 'state'; readonly state: AdapterState }

export interface DoctorRequest extends Readonly<z.infer<typeof doctorRequestSchema>> {
  readonly signal?: AbortSignal | undefined
}

/** The adapters that a gateway can spawn: each is an AIP-45 manifest. */
export interface AdapterCatalog {
  list(): Promise<readonly AdapterSummary[]>
  /** @throws `adapter_not_found`, naming the known ones */
  get(slug: string): Promise<AdapterSummary>
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
  /**
   * Removes an adapter of the owner and, unless another adapter has its name, its installed agent and the record of its setup.
   * Secrets and sessions stay.
   * @param by The caller, for the audit log
   * @throws `adapter_not_found` for one that is not in the home, `session_live`, `provisioning_busy`
   */
  remove(slug: string, by?: Principal): Promise<AdapterRemoved>
  /** Checks an agent, one finding after the other. @throws `adapter_not_found` */
  doctor(slug: string, request: DoctorRequest, by?: Principal): AsyncIterable<DoctorCheck>
  /** The secrets that are stored or declared; never a value. */
  secrets(): Promise<readonly SecretStatus[]>
}
