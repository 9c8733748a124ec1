import { defined, isAgentprotoError } from '@agentproto/contracts'
import type { AdapterState, ProvisionRequest, SetupStepState } from '@agentproto/contracts/wire'
import { paintFor, print, printJson, type CliContext } from '../cli-context.js'
import type { JsonOption, OptionValues } from '../command-definition.js'
import { oneLine } from '../render/printable.js'
import { interruptible } from '../signals.js'
import { openAdapters } from './open-adapters.js'
import { ProvisionView } from './provision-view.js'
import { setupTerminal } from './setup-terminal.js'

interface ProvisionOptions extends JsonOption {
  readonly force?: boolean
  readonly latest?: boolean
  readonly allowUnverified?: boolean
  readonly workspace?: string
  readonly input?: OptionValues
}

type Phase = ProvisionRequest['until']

/** Installs an agent, sets it up or logs in. At a terminal an install continues with setup and login where needed. */
export const provisionUntil =
  (until: Phase) =>
  (context: CliContext, slug: string, options: ProvisionOptions): Promise<number | void> =>
    interruptible(async (signal) => {
      const view = new ProvisionView(context)
      const terminal = setupTerminal(context, () => view.release())
      const adapters = await openAdapters(context, terminal)
      const { force = false } = options
      const runUntil = async (phase: Phase): Promise<AdapterState | undefined> => {
        const request = requestFor(phase, { ...options, force: force && phase === until }, signal)
        let state: AdapterState | undefined
        for await (const event of adapters.provision(slug, request)) {
          // A later run skips what the first one has done; that is not shown again.
          if (phase === until || event.type !== 'phase' || event.state !== 'skipped') view.handle(event)
          if (event.type === 'state') state = event.state
        }
        return state
      }
      try {
        let state = await runUntil(until)
        if (until === 'install' && terminal !== undefined) {
          if (isPending(state)) state = await runUntil('setup')
          if (state?.auth === 'unauthed' && state.login !== undefined) state = await runUntil('login')
        }
        view.release()
        if (state !== undefined) reportState(context, state, options)
      } catch (thrown) {
        view.release()
        reportPendingSteps(context, thrown)
        throw thrown
      }
    })

function requestFor(
  until: Phase,
  { force, latest, allowUnverified, workspace, input = {} }: ProvisionOptions,
  signal: AbortSignal,
): ProvisionRequest {
  const inputs = Object.keys(input).length === 0 ? undefined : input
  return {
    until,
    signal,
    ...defined({
      force: force || undefined,
      // What follows an install installs nothing again.
      latest: until === 'install' ? latest : undefined,
      allowUnverified,
      workspaceSlug: workspace,
      inputs,
    }),
  }
}

const isPending = (state: AdapterState | undefined): boolean =>
  state?.setup.some((step) => step.state === 'pending') ?? false

function reportState(context: CliContext, state: AdapterState, { json }: ProvisionOptions): void {
  if (json === true) return printJson(context, state)
  const { slug, version, ready, auth, next } = state
  const paint = paintFor(context, context.stderr)
  const agent = `${slug}${version === undefined ? '' : ` ${version}`}`
  if (ready)
    return print(context.stderr, `${paint.green('✓')} ${agent} is ready. Try: agentproto run ${slug} --prompt "hello"`)
  const missing = auth === 'unauthed' && !isPending(state) ? 'is installed, but not logged in' : 'is not ready yet'
  print(context.stderr, `${paint.yellow('!')} ${agent} ${missing}.${next === undefined ? '' : ` Next: ${next}`}`)
}

/** The steps that need input, one line each, when there is no terminal to ask at. */
function reportPendingSteps(context: CliContext, thrown: unknown): void {
  if (!isAgentprotoError(thrown) || thrown.code !== 'setup_required') return
  const pending = thrown.parts.data?.['pending']
  if (!Array.isArray(pending)) return
  const mark = paintFor(context, context.stderr).yellow('?')
  print(
    context.stderr,
    (pending as SetupStepState[]).map(({ id, needs }) => `  ${mark} ${id}: ${oneLine(needText(id, needs))}`),
  )
}

function needText(id: string, needs: SetupStepState['needs']): string {
  if (needs === undefined) return 'waits for the steps above'
  if (needs.kind === 'secret') return `agentproto secrets set ${needs.slug}`
  if (needs.kind === 'terminal') return `needs a terminal for ${needs.command}`
  return `${needs.prompt} (--input ${id}=…)${needs.url === undefined ? '' : ` see ${needs.url}`}`
}
