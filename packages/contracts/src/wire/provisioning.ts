import type { z } from 'zod'
import type { Principal } from '../principal.js'
import type { doctorRequestSchema, provisionRequestSchema } from './host-requests.js'
import type { addAgentSchema, AgentSearch, AgentWish, OutdatedQuery, updateAgentSchema } from './registry-requests.js'
import type { AdapterUpdates, AddedAgent, AgentPlan, FoundAgents } from './registry-responses.js'
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

/** In the order in which they run. `handshake` is only of an agent that is added or updated. */
export type ProvisionPhase = 'install' | 'version_check' | 'handshake' | 'setup' | 'login'

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

export interface AddAgentRequest extends Readonly<z.infer<typeof addAgentSchema>> {
  readonly signal?: AbortSignal | undefined
}

export interface UpdateAgentRequest extends Readonly<z.infer<typeof updateAgentSchema>> {
  readonly signal?: AbortSignal | undefined
}

/** Progress of adding or updating an agent, in order. */
export type AddAgentEvent =
  /** First, before anything is installed. */
  | { readonly type: 'plan'; readonly plan: AgentPlan }
  | Exclude<ProvisionEvent, { readonly type: 'state' }>
  /** The last event. */
  | ({ readonly type: 'added' } & AddedAgent)

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
  /**
   * The agents of the catalogue, of the owner and of the registry, each once.
   * @throws `registry_unavailable` and `registry_invalid` only where no adapter can be listed either: else they are a `warning`
   */
  search(query: AgentSearch, signal?: AbortSignal): Promise<FoundAgents>
  /**
   * What adding an agent would install; installs nothing.
   * @param id Of the registry
   * @throws `adapter_not_found` with the nearest ids, `install_failed` where it cannot be installed here, `registry_unavailable`,
   *   `registry_invalid`, `path_invalid`
   */
  lookUp(id: string, wish: AgentWish, signal?: AbortSignal): Promise<AgentPlan>
  /**
   * Adds an agent of the registry, or the adapter of the catalogue for it: installs it, starts it once in an empty folder and home to
   * see what it offers, and writes its adapter. Leaving the iteration cancels it. A failure leaves what was there before.
   * @param id Of the registry
   * @throws as `lookUp`; `adapter_exists`, `version_mismatch`, `handshake_failed`, `spawn_failed`, `timeout`, `manifest_invalid`,
   *   `provisioning_busy`, `storage_failed`, `cancelled`
   */
  addAgent(id: string, request: AddAgentRequest, by?: Principal): AsyncIterable<AddAgentEvent>
  /** The installed agents for which the registry has another version. @throws `registry_unavailable`, `registry_invalid` */
  outdated(query: OutdatedQuery, signal?: AbortSignal): Promise<AdapterUpdates>
  /**
   * Replaces an agent by the version of the registry, after that has passed the checks of `addAgent`; until then the old one stays.
   * @throws as `addAgent`; `adapter_edited` for a manifest that its owner has changed
   */
  update(slug: string, request: UpdateAgentRequest, by?: Principal): AsyncIterable<AddAgentEvent>
  /** Checks an agent, one finding after the other. @throws `adapter_not_found` */
  doctor(slug: string, request: DoctorRequest, by?: Principal): AsyncIterable<DoctorCheck>
  /**
   * The icon that the entry of an adapter names, as SVG without anything that could be executed or loaded.
   * @throws `adapter_not_found`, `icon_not_found`
   */
  icon(slug: string): Promise<string>
  /** The secrets that are stored or declared; never a value. */
  secrets(): Promise<readonly SecretStatus[]>
}
