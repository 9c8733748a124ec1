import {
  type AgentConfig,
  type ConfigRequest,
  EXIT,
  type PermissionMode,
  PERMISSION_MODES,
  type Session,
} from '@agentproto/contracts'
import { connect } from '../daemon/daemon.js'
import { paintOf, print, printJson, widthOf, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import type { OptionValues } from '../program/option-values.js'
import { oneLine } from '../render/printable.js'
import { renderTable, type Column } from '../render/table.js'
import { findSession } from '../session-ref.js'

export interface ConfigureOptions extends JsonOption {
  readonly mode?: string
  readonly model?: string
  readonly option: OptionValues
  readonly permissions?: PermissionMode
}

/** `agentproto sessions config`: what is set and what can be, after what was asked to be set. */
export async function configureSession(io: Io, ref: string, options: ConfigureOptions): Promise<number> {
  const request = requestOf(options)
  const client = await connect(io)
  const found = await findSession(client, ref)
  const session =
    request === undefined ? await client.sessions.get(found.id) : await client.sessions.configure(found.id, request)
  const { config = {}, permissionMode } = session
  if (options.json === true) printJson(io, { ...config, permissionMode })
  else print(io.stdout, table(io, knobsOf(session)))
  return EXIT.ok
}

/** Undefined when nothing is to be set. */
function requestOf({ mode, model, option, permissions }: ConfigureOptions): ConfigRequest | undefined {
  const options = Object.entries(option).map(([key, value]) => [key, settable(value)] as const)
  const request = {
    ...(mode === undefined ? {} : { mode }),
    ...(model === undefined ? {} : { model }),
    ...(options.length === 0 ? {} : { options: Object.fromEntries(options) }),
    ...(permissions === undefined ? {} : { permissionMode: permissions }),
  }
  return Object.keys(request).length === 0 ? undefined : request
}

/** Agents know texts and switches. */
const settable = (value: string | number | boolean): string | boolean =>
  typeof value === 'number' ? String(value) : value

interface Knob {
  readonly name: string
  readonly value: string
  readonly allowed: string
}

function knobsOf({ config = {}, permissionMode }: Session): Knob[] {
  const { modeId, modes = [], modelId, models = [], options = [] }: AgentConfig = config
  const ids = (all: readonly { readonly id: string }[]): string => all.map(({ id }) => id).join(' ')
  return [
    ...(modes.length === 0 ? [] : [{ name: 'mode', value: modeId ?? '', allowed: ids(modes) }]),
    ...(models.length === 0 ? [] : [{ name: 'model', value: modelId ?? '', allowed: ids(models) }]),
    // Agents tell mode and model as options, too.
    ...options
      .filter(({ category }) => category !== 'mode' && category !== 'model')
      .map(({ id, value, values }) => ({
        name: `option ${id}`,
        value: String(value),
        allowed: values === undefined ? 'true false' : values.map((each) => each.value).join(' '),
      })),
    { name: 'permissions', value: permissionMode, allowed: PERMISSION_MODES.join(' ') },
  ]
}

function table(io: Io, knobs: readonly Knob[]): string[] {
  const paint = paintOf(io, io.stdout)
  const columns: Column<Knob>[] = [
    { title: 'WHAT', cell: ({ name }) => oneLine(name), paint: paint.cyan },
    { title: 'IS', cell: ({ value }) => oneLine(value), shrinkTo: 8 },
    { title: 'CAN BE', cell: ({ allowed }) => oneLine(allowed), paint: paint.dim, shrinkTo: 12 },
  ]
  const [titles = '', ...lines] = renderTable(columns, knobs, widthOf(io.stdout))
  return [paint.bold(titles), ...lines]
}
