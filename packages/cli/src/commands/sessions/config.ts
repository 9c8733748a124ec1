import { type AgentConfig, defined, PERMISSION_MODES, type PermissionMode, type Session } from '@agentproto/contracts'
import type { ConfigRequest } from '@agentproto/contracts/wire'
import type { CommandResult, Define } from '../../cli-command.js'
import type { CliContext } from '../../cli-context.js'
import { agentOption, type OptionValues, permissionsOption } from '../../command-definition.js'
import { tableFor } from '../../render/table.js'
import { oneLine } from '../../render/printable.js'
import { openSession } from '../../session-ref.js'

interface ConfigOptions {
  readonly mode?: string
  readonly model?: string
  readonly option: OptionValues
  readonly permissions?: PermissionMode
}

export const define: Define = (command) =>
  command
    .description('show or set mode, model and options of the running agent, and its permission mode')
    .argument('<id>')
    .option('--mode <id>', 'one of its modes')
    .option('--model <id>', 'one of its models')
    .addOption(agentOption())
    .addOption(permissionsOption())
    .json()
    .examples(
      'sessions config try',
      'sessions config try --model demo-2 --mode plan',
      'sessions config try --permissions approve-all',
    )
    .run(configure)

/** Sets what is given, then prints every setting and its choices. */
async function configure(context: CliContext, ref: string, options: ConfigOptions): Promise<CommandResult> {
  const request = requestOf(options)
  const { client, session } = await openSession(context, ref)
  const isChange = Object.keys(request).length > 0
  const current = isChange
    ? await client.sessions.configure(session.id, request)
    : await client.sessions.get(session.id)
  const { config = {}, permissionMode } = current
  const text = tableFor<Setting>(context, settingsOf(current), (paint) => [
    { title: 'WHAT', cell: ({ name }) => oneLine(name), paint: paint.cyan },
    { title: 'IS', cell: ({ value }) => oneLine(value), shrinkTo: 8 },
    { title: 'CAN BE', cell: ({ allowed }) => oneLine(allowed), paint: paint.dim, shrinkTo: 12 },
  ])
  return { json: { ...config, permissionMode }, text }
}

function requestOf({ mode, model, option, permissions }: ConfigOptions): ConfigRequest {
  // The options of a running agent are strings and booleans.
  const options = Object.entries(option).map(([key, value]) => [key, typeof value === 'number' ? String(value) : value])
  return {
    ...defined({ mode, model, permissionMode: permissions }),
    ...(options.length === 0 ? {} : { options: Object.fromEntries(options) as Record<string, string | boolean> }),
  }
}

interface Setting {
  readonly name: string
  readonly value: string
  readonly allowed: string
}

function settingsOf({ config = {}, permissionMode }: Session): Setting[] {
  const { modeId, modes = [], modelId, models = [], options = [] }: AgentConfig = config
  const ids = (all: readonly { readonly id: string }[]): string => all.map(({ id }) => id).join(' ')
  return [
    ...(modes.length === 0 ? [] : [{ name: 'mode', value: modeId ?? '', allowed: ids(modes) }]),
    ...(models.length === 0 ? [] : [{ name: 'model', value: modelId ?? '', allowed: ids(models) }]),
    // Agents report mode and model as options, too.
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
