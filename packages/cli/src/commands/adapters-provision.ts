import {
  EXIT,
  isAgentprotoError,
  type AdapterState,
  type ProvisionRequest,
  type SetupStepState,
} from '@agentproto/contracts'
import { adaptersOf } from '../adapters/adapters-of.js'
import { personAt } from '../adapters/person.js'
import { ProvisionView } from '../adapters/provision-view.js'
import { paintOf, print, printJson, type Io } from '../io.js'
import type { OptionValues } from '../program/option-values.js'
import { oneLine } from '../render/printable.js'
import { interruptible } from '../signals.js'

export interface ProvisionOptions {
  readonly force?: boolean
  readonly allowUnverified?: boolean
  readonly workspace?: string
  readonly input?: OptionValues
  readonly json?: boolean
}

/** `agentproto adapters install`: at a terminal it goes on with the setup and the login, where they are needed. */
export const installAdapter = (io: Io, slug: string, options: ProvisionOptions): Promise<number> =>
  provisioned(io, slug, { options, until: 'install' })

/** `agentproto adapters setup`. */
export const setUpAdapter = (io: Io, slug: string, options: ProvisionOptions): Promise<number> =>
  provisioned(io, slug, { options, until: 'setup' })

/** `agentproto adapters login`. */
export const logInAdapter = (io: Io, slug: string, options: ProvisionOptions): Promise<number> =>
  provisioned(io, slug, { options, until: 'login' })

interface Wanted {
  readonly options: ProvisionOptions
  readonly until: ProvisionRequest['until']
}

function provisioned(io: Io, slug: string, { options, until }: Wanted): Promise<number> {
  return interruptible(async (signal) => {
    const view = new ProvisionView(io)
    const person = personAt(io, { onTurn: () => view.release() })
    const adapters = await adaptersOf(io, person)
    const run = async (phase: ProvisionRequest['until'], force = false): Promise<AdapterState | undefined> => {
      let state: AdapterState | undefined
      for await (const event of adapters.provision(slug, requestOf(options, { until: phase, force, signal }))) {
        // What an earlier run has just told is not told again.
        if (phase === until || event.type !== 'phase' || event.state !== 'skipped') view.take(event)
        if (event.type === 'state') state = event.state
      }
      return state
    }
    try {
      let state = await run(until, options.force ?? false)
      if (until === 'install' && person !== undefined && isPending(state)) state = await run('setup')
      if (until === 'install' && person !== undefined && state?.auth === 'unauthed' && state.login !== undefined)
        state = await run('login')
      view.release()
      if (state !== undefined) tell(io, state, options)
      return EXIT.ok
    } catch (thrown) {
      view.release()
      tellPending(io, thrown)
      throw thrown
    }
  })
}

function requestOf(
  { allowUnverified, workspace, input = {} }: ProvisionOptions,
  {
    until,
    force,
    signal,
  }: { readonly until: ProvisionRequest['until']; readonly force: boolean; readonly signal: AbortSignal },
): ProvisionRequest {
  return {
    until,
    signal,
    ...(force ? { force } : {}),
    ...(allowUnverified === true ? { allowUnverified } : {}),
    ...(workspace === undefined ? {} : { workspaceSlug: workspace }),
    ...(Object.keys(input).length === 0 ? {} : { inputs: input }),
  }
}

const isPending = (state: AdapterState | undefined): boolean =>
  state?.setup.some((step) => step.state === 'pending') ?? false

function tell(io: Io, state: AdapterState, { json }: ProvisionOptions): void {
  if (json === true) return printJson(io, state)
  const { slug, version, ready, auth, next } = state
  const paint = paintOf(io, io.stderr)
  const what = `${slug}${version === undefined ? '' : ` ${version}`}`
  if (ready) print(io.stderr, `${paint.green('✓')} ${what} is ready. Try: agentproto run ${slug} --prompt "hello"`)
  else {
    const missing =
      auth === 'unauthed' && !isPending(state) ? 'is installed, but no login was found' : 'is not ready yet'
    print(io.stderr, `${paint.yellow('!')} ${what} ${missing}.${next === undefined ? '' : ` Next: ${next}`}`)
  }
}

/** What a setup without a person waits for, a line each. */
function tellPending(io: Io, thrown: unknown): void {
  if (!isAgentprotoError(thrown) || thrown.code !== 'setup_required') return
  const pending = thrown.parts.data?.['pending']
  if (!Array.isArray(pending)) return
  const paint = paintOf(io, io.stderr)
  print(
    io.stderr,
    (pending as SetupStepState[]).map(({ id, needs }) => `  ${paint.yellow('?')} ${id}: ${oneLine(needOf(id, needs))}`),
  )
}

function needOf(id: string, needs: SetupStepState['needs']): string {
  if (needs === undefined) return 'comes after those above'
  if (needs.kind === 'secret') return `agentproto secrets set ${needs.slug}`
  if (needs.kind === 'terminal') return `needs a terminal for ${needs.command}`
  return `${needs.prompt} (--input ${id}=…)${needs.url === undefined ? '' : ` see ${needs.url}`}`
}
