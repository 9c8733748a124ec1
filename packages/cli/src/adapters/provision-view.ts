import type { AddAgentEvent, ProvisionEvent } from '@agentproto/contracts/wire'
import { LiveArea } from '../attach/live-area.js'
import { paintFor, print, widthOf, type CliContext } from '../cli-context.js'
import { planLines } from '../render/agent-plan.js'
import { cut } from '../render/fit.js'
import type { Paint } from '../render/paint.js'
import { oneLine } from '../render/printable.js'

type ShownEvent = ProvisionEvent | AddAgentEvent

/** The progress of an install, a setup, a login or of adding an agent: finished lines and, at a terminal, one live line below them. */
export class ProvisionView {
  readonly #context: CliContext
  readonly #paint: Paint
  readonly #area: LiveArea | undefined
  #activity = ''
  #live = ''

  constructor(context: CliContext) {
    this.#context = context
    this.#paint = paintFor(context, context.stderr)
    this.#area = context.stderr.isTTY === true ? new LiveArea(context.stderr) : undefined
  }

  handle(event: ShownEvent): void {
    if (event.type === 'phase' && event.state === 'started') this.#activity = ACTIVITIES[event.phase]
    if (event.type === 'output') this.#live = oneLine(event.line)
    if (event.type === 'progress') this.#live = amount(event)
    if (event.type === 'method' || event.type === 'step' || event.type === 'phase') this.#live = ''
    // A log gets every line of output, a terminal the last one.
    const isLogged = event.type === 'output' && this.#area === undefined
    this.#draw(isLogged ? [this.#paint.dim(`    ${this.#live}`)] : linesOf(event, this.#paint))
  }

  /** Erases the live line, before something else uses the screen. */
  release(): void {
    this.#area?.close()
  }

  #draw(finished: readonly string[]): void {
    if (this.#area === undefined) {
      if (finished.length > 0) print(this.#context.stderr, finished)
      return
    }
    const text = [this.#activity, this.#live].filter(Boolean).join(': ')
    const rows = text === '' ? [] : [this.#paint.dim(cut(`  ${text}`, widthOf(this.#context.stderr) - 1))]
    this.#area.draw(finished, { rows })
  }
}

const ACTIVITIES = {
  install: 'Installing',
  version_check: 'Checking the version',
  handshake: 'Seeing what it offers',
  setup: 'Setting up',
  login: 'Logging in',
} as const

const TITLES = {
  install: 'install',
  version_check: 'version',
  handshake: 'offers',
  setup: 'setup',
  login: 'login',
} as const

function linesOf(event: ShownEvent, paint: Paint): readonly string[] {
  switch (event.type) {
    case 'phase':
      if (event.state === 'started') return []
      return [
        `${mark(event.state, paint)} ${TITLES[event.phase].padEnd(8)} ${paint.dim(oneLine(event.detail ?? event.state))}`,
      ]
    case 'method':
      return methodLines(event, paint)
    case 'step':
      if (event.state === 'started') return []
      return [
        `  ${mark(event.state, paint)} ${event.step}${event.detail === undefined ? '' : paint.dim(` ${oneLine(event.detail)}`)}`,
      ]
    case 'warning':
      return [`${paint.yellow('!')} ${oneLine(event.message)}`]
    case 'download':
      // The warning of a file without a checksum has its SHA-256.
      return event.verified ? [`  ${mark('done', paint)} ${paint.dim(`SHA-256 ${event.sha256} matches`)}`] : []
    case 'plan':
      return planLines(event.plan, paint)
    case 'output':
    case 'progress':
    case 'state':
    case 'added':
      return []
  }
}

function methodLines(
  { method, state, detail = '' }: Extract<ProvisionEvent, { type: 'method' }>,
  paint: Paint,
): readonly string[] {
  if (state === 'started') return [paint.dim(`  $ ${oneLine(detail)}`)]
  if (state === 'done') return []
  return [`  ${mark(state, paint)} ${method}: ${oneLine(detail)}`]
}

function mark(state: 'done' | 'skipped' | 'pending' | 'failed', paint: Paint): string {
  const marks = { done: paint.green('✓'), skipped: paint.dim('–'), pending: paint.yellow('?'), failed: paint.red('✗') }
  return marks[state]
}

const mib = (bytes: number): string => (bytes / 1024 ** 2).toFixed(1)

const amount = ({ bytes, total }: { readonly bytes: number; readonly total?: number }): string =>
  total === undefined ? `${mib(bytes)} MiB` : `${mib(bytes)} of ${mib(total)} MiB`
