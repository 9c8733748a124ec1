import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { AgentprotoError, defined, isAgentprotoError, systemClock } from '@agentproto/contracts'
import type { ObservedAgent } from '@agentproto/contracts/agent'
import type { AddAgentEvent, ProvisionEvent } from '@agentproto/contracts/wire'
import { agentPrefix, makeOwned, removeOwned } from '@agentproto/driver-agent-cli/installation'
import { inScratchHome, observeAgent } from '@agentproto/driver-agent-cli'
import type { LoadedAgentCli } from '@agentproto/manifest/node'
import { clearLeftovers, siblingOf } from '../install/prefix-change.js'
import { type Download, newInstallMarker, type ProvisionHost } from '../provision-host.js'
import { createProvisioner } from '../provisioner.js'
import { failedObservation } from './failed-observation.js'
import { holdDownload } from './held-downloads.js'

export interface TrialOptions {
  readonly slug: string
  readonly host: ProvisionHost
  readonly allowUnverified: boolean
  /** Go on with an agent that does not shake hands. */
  readonly force: boolean
  /** Its package has install scripts, which are not run. */
  readonly skipsScripts?: boolean
  readonly emit: (event: AddAgentEvent) => void
  readonly signal: AbortSignal
}

/**
 * A home below that of the host, in which an agent is installed and started before anything of it is in the host's. It is beside the
 * agent's prefix, so that what was installed can be moved there, and an install that was killed is cleared by the next one.
 */
export class Trial {
  readonly host: ProvisionHost
  readonly #options: TrialOptions

  /** Runs with a trial, and removes it. Only under the lock of the ledger of the slug. */
  static async run<T>(options: TrialOptions, work: (trial: Trial) => Promise<T>): Promise<T> {
    const prefix = agentPrefix({ id: options.slug }, options.host)
    await mkdir(join(options.host.home, 'agents'), { recursive: true, mode: 0o700 })
    await clearLeftovers(prefix)
    const home = siblingOf(prefix, 'new')
    const installMarker = newInstallMarker()
    try {
      await makeOwned(home, installMarker)
      return await work(new Trial({ ...options.host, home, installMarker }, options))
    } finally {
      await removeOwned(home)
    }
  }

  private constructor(host: ProvisionHost, options: TrialOptions) {
    this.#options = options
    this.host = host
  }

  /** Where the agent is installed. */
  get prefix(): string {
    return agentPrefix({ id: this.#options.slug }, this.host)
  }

  /**
   * Installs the agent and checks its version.
   * @returns the SHA-256 of a download
   * @throws `install_failed`, `version_mismatch`, `cancelled`
   */
  async install(adapter: LoadedAgentCli): Promise<string | undefined> {
    const { allowUnverified, signal } = this.#options
    let sha256: string | undefined
    // Also where it is on PATH: that may be another version than the one that is described.
    const request = { until: 'install', force: true, allowUnverified, signal } as const
    // The command that prints its version is the first thing of it that runs here.
    await inScratchHome(adapter, this.host.clock ?? systemClock, async (untrusted) => {
      const { host } = this.#options
      const acceptDownload = (download: Download): Promise<void> => holdDownload(download, host)
      const isolated = { ...this.host, environment: 'isolated', acceptDownload } as const
      for await (const event of createProvisioner(untrusted, isolated).run(request)) {
        if (event.type === 'download') ({ sha256 } = event)
        this.#forward(event)
      }
    })
    return sha256
  }

  /** Starts the agent to see what it offers. @throws what a start throws, unless it is forced */
  async observe(adapter: LoadedAgentCli): Promise<ObservedAgent> {
    const { emit, signal, force } = this.#options
    emit({ type: 'phase', phase: 'handshake', state: 'started' })
    try {
      const seen = await observeAgent({ adapter, host: this.host, signal })
      const detail = `${seen.agentName ?? 'it'} ${seen.agentVersion ?? ''}`.trim()
      emit({ type: 'phase', phase: 'handshake', state: 'done', detail: `${detail}, ${seen.handshakeMs} ms` })
      return seen
    } catch (thrown) {
      if (!isAgentprotoError(thrown) || thrown.code === 'cancelled') throw thrown
      if (!force) throw notUsable(thrown, this.#options)
      emit({ type: 'warning', message: `It does not shake hands: ${thrown.message}` })
      return failedObservation(thrown, this.#now())
    }
  }

  #now(): number {
    return (this.host.clock ?? systemClock).now()
  }

  #forward(event: ProvisionEvent): void {
    if (event.type === 'state') return
    const { home } = this.#options.host
    // A person finds the agent where it is put at last.
    if (event.type === 'phase' && event.detail?.startsWith(this.host.home) === true)
      this.#options.emit({ ...event, detail: event.detail.replace(this.host.home, home) })
    else this.#options.emit(event)
  }
}

const notUsable = (thrown: AgentprotoError, { skipsScripts = false }: TrialOptions): AgentprotoError =>
  new AgentprotoError(thrown.code, thrown.message, {
    ...defined({ data: thrown.parts.data, cause: thrown }),
    hint: skipsScripts
      ? 'It was not added. Its install scripts were not run: if it needs them, add it with --allow-scripts; add it as it is with --force'
      : 'It was not added. Add it all the same with --force',
  })
