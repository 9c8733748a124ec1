import { AgentprotoError, parseJson } from '@agentproto/contracts'
import type { CliCommand, CommandResult } from '../cli-command.js'
import { print, type CliContext } from '../cli-context.js'
import type { ConfigTree } from '../config/config-file.js'
import type { ConfigKey } from '../config/config-keys.js'
import { daemonProcess } from '../daemon/daemon-process.js'
import { homeOf } from '../daemon/daemon-record.js'
import { withAudit } from '../home-audit.js'
import { withNextStep } from '../next-steps.js'
import { tableFor } from '../render/table.js'

const HELP = `
Examples:
  $ agentproto config list
  $ agentproto config set sessions.idleMs 300000
  $ agentproto config unset sessions.idleMs

The gateway reads config.json when it starts. An invalid value is refused and not written.`

/** These commands edit config.json of the home, and need no gateway. */
export function define(config: CliCommand): void {
  config.description('the settings of the gateway').addHelpText('after', HELP)
  config
    .subcommand('list', 'list every key with its value and what it does')
    .json()
    .examples('config list', 'config list --json')
    .run(list)
  config
    .subcommand('get <key>', 'print the value of a key, set or default')
    .json()
    .examples('config get sessions.maxSessions')
    .run(get)
  config
    .subcommand('set <key>', 'set a key')
    .argument('<value>', 'a list is separated by commas, or JSON')
    .json()
    .examples(
      'config set sessions.idleMs 300000',
      'config set allowedHosts agents.example,agents.internal',
      'config set executables.claude /opt/claude/bin/claude',
    )
    .run(change)
  config
    .subcommand('unset <key>', 'restore the default of a key')
    .json()
    .examples('config unset sessions.idleMs')
    .run((context, name: string) => change(context, name))
}

/** Loaded when a command runs: the validator takes longer to load than `--help` to print. */
const loadConfig = async () => ({
  ...(await import('../config/config-file.js')),
  ...(await import('../config/config-keys.js')),
})

async function list(context: CliContext): Promise<CommandResult> {
  const { configKeys, readConfigFile, valueAt } = await loadConfig()
  const tree = await readConfigFile(homeOf(context).config)
  const rows = configKeys().map((key) => {
    const own = valueAt(tree, key.path)
    return { ...key, value: own ?? key.fallback, isSet: own !== undefined }
  })
  const entries = rows.map(({ name, value, isSet }) => [name, { value: value ?? null, set: isSet }])
  const text = tableFor(context, rows, (paint) => [
    { title: 'KEY', cell: ({ name }) => name, paint: paint.cyan },
    {
      title: 'VALUE',
      cell: ({ value }) => valueText(value),
      shrinkTo: 12,
      paint: (cell, { isSet }) => (isSet ? paint.bold(cell) : paint.dim(cell)),
    },
    { title: 'SET', cell: ({ isSet }) => (isSet ? 'yes' : ''), dropOrder: 1 },
    { title: 'WHAT IT DOES', cell: ({ description }) => description, shrinkTo: 20, dropOrder: 2, paint: paint.dim },
  ])
  return { json: { config: Object.fromEntries(entries) }, text }
}

async function get(context: CliContext, name: string): Promise<CommandResult> {
  const { configKey, readConfigFile, valueAt } = await loadConfig()
  const key = configKey(name)
  const own = valueAt(await readConfigFile(homeOf(context).config), key.path)
  const value = own ?? key.fallback
  const json = { key: key.name, value: value ?? null, set: own !== undefined }
  return { json, text: value === undefined ? undefined : valueText(value) }
}

/** Sets the typed value of a key, or restores its default without one. */
async function change(context: CliContext, name: string, text?: string): Promise<CommandResult> {
  const { configKey, readConfigFile, withValue } = await loadConfig()
  const home = homeOf(context)
  const key = configKey(name)
  const value = text === undefined ? undefined : valueOf(key, text)
  // The value may be a secret: the audit log gets the key alone.
  const entry = { action: value === undefined ? 'config-unset' : 'config-set', key: key.name }
  await withAudit(context, entry, async () =>
    write(home.config, key, withValue(await readConfigFile(home.config), key.path, value)),
  )
  if ((await daemonProcess(home)) !== undefined)
    print(context.stderr, 'Restart the gateway to apply it: agentproto stop && agentproto serve --detach')
  return { json: { key: key.name, value: value ?? key.fallback ?? null, set: value !== undefined } }
}

/** What is not valid is the new value, and not the file. */
async function write(path: string, { name }: ConfigKey, tree: ConfigTree): Promise<void> {
  const { writeConfigFile } = await loadConfig()
  const step = `Nothing was changed. See the key with: agentproto config get ${name}`
  await withNextStep({ invalid_request: step }, async () => writeConfigFile(path, tree))
}

const valueText = (value: unknown): string =>
  value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value)

/** The typed text as a value of the key's type. The schema checks whether it is allowed. */
function valueOf({ name, type }: ConfigKey, text: string): unknown {
  switch (type) {
    case 'integer':
      return /^-?\d+$/.test(text.trim()) ? Number(text) : text
    case 'boolean':
      return text === 'true' || text === 'false' ? text === 'true' : text
    case 'list':
      return text.trimStart().startsWith('[') ? jsonOf(name, text) : text.split(',').map((each) => each.trim())
    case 'map':
      return jsonOf(name, text)
    case 'choice':
      return text
  }
}

function jsonOf(name: string, text: string): unknown {
  const value = parseJson(text)
  if (value !== undefined) return value
  throw new AgentprotoError('invalid_request', `The value of ${name} is not JSON`, {
    given: text,
    hint: `To set one member, run: agentproto config set ${name}.<name> <value>`,
  })
}
