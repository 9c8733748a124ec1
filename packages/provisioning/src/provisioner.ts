import { AgentprotoError, defined, isAgentprotoError, systemClock } from '@agentproto/contracts'
import type { AdapterState, ProvisionEvent, ProvisionRequest } from '@agentproto/contracts/wire'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import { remoteAddress } from '@agentproto/manifest'
import { findAgent, type LocatedAgent } from '@agentproto/driver-agent-cli/installation'
import { adapterState, checkOf } from './adapter-state.js'
import { type AgentRecord, agentVariables, readRecord } from './agent-record.js'
import { checkLogin } from './auth-state.js'
import { checkVersion } from './check-version.js'
import { eventStream } from './event-stream.js'
import { installAgent } from './install/install-agent.js'
import { type Ledger, ledgerFile } from './ledger.js'
import { logIn } from './login.js'
import type { CommandContext } from './manifest-command.js'
import type { ProvisionHost } from './provision-host.js'
import { storing } from './storing.js'
import { runSetup } from './setup/run-setup.js'

/** Installs, checks, sets up and logs in one adapter's agent, until a session can be started (AIP-45 §Lifecycle). */
export type Provisioner = ReturnType<typeof createProvisioner>

export function createProvisioner(adapter: LoadedAgentCli, host: ProvisionHost) {
  return {
    /** The state of the agent; runs nothing. */
    state: async (workspace?: string): Promise<AdapterState> =>
      adapterState(await readRecord(adapter, host, workspace)),
    /**
     * Runs the phases that are not done, up to `until`; the last event is the state. Completed phases stay completed when a
     * later one fails. Leaving the iteration ends what runs.
     * The iteration throws `install_failed`, `version_mismatch`, `setup_required`, `setup_failed`, `auth_required`,
     * `provisioning_busy`, `storage_failed`, `cancelled`.
     */
    run: (request: ProvisionRequest): AsyncIterable<ProvisionEvent> =>
      eventStream<ProvisionEvent>(
        (emit, signal) =>
          storing(host.home, () =>
            ledgerFile(adapter.manifest.id, host).locked(async () => {
              const record = await readRecord(adapter, host, request.workspaceSlug)
              await new Provisioning(record, { request, emit, signal }).run()
            }),
          ),
        { signal: request.signal, expendable: ({ type }) => type === 'output' || type === 'progress' },
      ),
  }
}

interface Running {
  readonly request: ProvisionRequest
  readonly emit: (event: ProvisionEvent) => void
  readonly signal: AbortSignal
}

type PhaseEvent = Extract<ProvisionEvent, { type: 'phase' }>

/** One run, with the ledger as it is now. */
class Provisioning {
  readonly #running: Running
  #record: AgentRecord

  constructor(record: AgentRecord, running: Running) {
    this.#record = record
    this.#running = running
  }

  async run(): Promise<void> {
    const { request, emit } = this.#running
    await this.#provideInstalled()
    if (request.until !== 'install') await this.#setUp()
    if (request.until === 'login') await this.#logIn()
    emit({ type: 'state', state: await adapterState(this.#record) })
  }

  /** install → version_check, with one reinstall in between where the version does not fit. */
  async #provideInstalled(): Promise<void> {
    const { adapter, host } = this.#record
    const address = remoteAddress(adapter.manifest)
    if (address !== undefined) return this.#phase('install', 'skipped', `it runs elsewhere: ${address}`)
    this.#phase('install', 'started')
    const before = await findAgent(adapter.manifest, host)
    const kept = before !== undefined && !(this.#forces('install') && before.place !== 'host')
    const found = kept ? before : await this.#install()
    if (kept) this.#phase('install', 'skipped', `it is installed: ${found.file}`)
    this.#phase('version_check', 'started')
    const wrong = await this.#check(found, kept)
    if (wrong === undefined) return
    this.#running.emit({ type: 'warning', message: `The version does not match: ${wrong}` })
    // The host names the executable: an installed one would not be run.
    if (found.place === 'host') throw this.#mismatch(wrong)
    const again = await this.#reinstall(wrong)
    if (again !== undefined) throw this.#mismatch(again)
  }

  /**
   * @param wrong why the version does not match: that stays the error when nothing else can be installed
   * @returns why the installed version does not match, or undefined
   */
  async #reinstall(wrong: string): Promise<string | undefined> {
    const { manifest } = this.#record.adapter
    const found = await this.#install(manifest.versionCheck.range).catch((thrown: unknown) => {
      if (!isAgentprotoError(thrown) || thrown.code !== 'install_failed') throw thrown
      throw this.#mismatch(`${wrong}, and a matching one could not be installed: ${thrown.message}`, thrown)
    })
    return this.#check(found, false)
  }

  async #setUp(): Promise<void> {
    const { request, emit, signal } = this.#running
    if (this.#record.adapter.manifest.setup.length === 0) return this.#phase('setup', 'skipped', 'it needs none')
    this.#phase('setup', 'started')
    await runSetup({
      ...this.#record,
      inputs: request.inputs ?? {},
      emit,
      signal,
      save: (ledger) => this.#save(ledger),
      force: this.#forces('setup'),
    })
    this.#phase('setup', 'done')
  }

  async #logIn(): Promise<void> {
    const commandContext = await this.#commandContext()
    const { state, by, ledger } = await checkLogin(this.#record, commandContext)
    if (ledger !== this.#record.ledger) await this.#save(ledger)
    if (state === 'not_needed' || (state === 'authed' && !this.#forces('login'))) {
      // A launch has found it expired, and starts nothing without a key until it is recorded as valid again.
      if (by === 'file') await this.#saveLogin()
      return this.#phase('login', 'skipped', state === 'authed' ? 'it is logged in' : 'it needs none')
    }
    this.#phase('login', 'started')
    await logIn(commandContext, state, this.#running.emit)
    await this.#saveLogin()
  }

  #saveLogin(): Promise<void> {
    return this.#save({ ...this.#record.ledger, auth: { state: 'authed', at: this.#now() } })
  }

  /** @param range of versions, when what the manifest or the request names did not fit */
  async #install(range?: string): Promise<LocatedAgent> {
    const { adapter, host } = this.#record
    const { request, emit, signal } = this.#running
    const { method, found } = await installAgent({
      manifest: adapter.manifest,
      directory: adapter.directory,
      host,
      allowUnverified: request.allowUnverified ?? false,
      emit,
      signal,
      // The newest one was tried before.
      ...defined({ range, latest: range === undefined ? request.latest : undefined }),
    })
    const name = 'package' in method ? { package: method.package } : {}
    await this.#save({ ...this.#record.ledger, install: { method: method.method, ...name, at: this.#now() } })
    this.#phase('install', 'done', found.file)
    return found
  }

  /** @returns why the version does not match, or undefined */
  async #check(found: LocatedAgent, mayBeKnown: boolean): Promise<string | undefined> {
    const known = mayBeKnown ? await checkOf(found, this.#record.ledger) : undefined
    if (known?.ok === true) {
      this.#phase('version_check', 'skipped', `${known.version ?? 'it matches'}, checked before`)
      return undefined
    }
    const { version, ok, detail, changed } = await checkVersion(found, await this.#commandContext())
    const check = { ...defined({ version }), ok, at: this.#now(), file: found.file, changed }
    await this.#save({ ...this.#record.ledger, check })
    if (!ok) return detail
    this.#phase('version_check', 'done', detail)
    return undefined
  }

  async #commandContext(): Promise<CommandContext> {
    const { variables } = await agentVariables(this.#record)
    return { ...this.#record, signal: this.#running.signal, variables }
  }

  #phase(phase: PhaseEvent['phase'], state: PhaseEvent['state'], detail?: string): void {
    this.#running.emit({ type: 'phase', phase, state, ...defined({ detail }) })
  }

  #forces(phase: ProvisionRequest['until']): boolean {
    const { force = false, latest = false, until } = this.#running.request
    return (force || (latest && phase === 'install')) && until === phase
  }

  async #save(ledger: Ledger): Promise<void> {
    const { adapter, host } = this.#record
    this.#record = { ...this.#record, ledger }
    await ledgerFile(adapter.manifest.id, host).write(ledger)
  }

  #now(): string {
    return new Date((this.#record.host.clock ?? systemClock).now()).toISOString()
  }

  #mismatch(detail: string, cause?: AgentprotoError): AgentprotoError {
    const { manifest } = this.#record.adapter
    return new AgentprotoError('version_mismatch', `The version of ${manifest.name} does not match: ${detail}`, {
      expected: `a version in ${manifest.versionCheck.range}`,
      hint: 'Use a newer manifest of the adapter, or install a matching version by hand',
      ...defined({ cause, data: cause?.parts.data }),
    })
  }
}
