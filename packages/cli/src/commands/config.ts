import { AgentprotoError, EXIT } from '@agentproto/contracts'
import { readConfigFile, valueAt, withValue, writeConfigFile } from '../config/config-file.js'
import { configKey, configKeys, type ConfigKey } from '../config/config-keys.js'
import { daemonProcess } from '../daemon/daemon-process.js'
import { homeOf } from '../daemon/daemon-record.js'
import { paintOf, print, printJson, widthOf, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { noted } from '../noted.js'
import { renderTable, type Column } from '../render/table.js'

/** `agentproto config list`: every key, with what it is and whether that was set. */
export async function listConfig(io: Io, { json }: JsonOption): Promise<number> {
  const tree = await readConfigFile(homeOf(io).config)
  const rows = configKeys().map((key) => {
    const own = valueAt(tree, key.path)
    return { ...key, value: own ?? key.fallback, isSet: own !== undefined }
  })
  if (json === true) {
    printJson(io, {
      config: Object.fromEntries(rows.map(({ name, value, isSet }) => [name, { value: value ?? null, set: isSet }])),
    })
    return EXIT.ok
  }
  const paint = paintOf(io, io.stdout)
  const columns: Column<(typeof rows)[number]>[] = [
    { title: 'KEY', cell: ({ name }) => name, paint: paint.cyan },
    {
      title: 'VALUE',
      cell: ({ value }) => shown(value),
      shrinkTo: 12,
      paint: (text, { isSet }) => (isSet ? paint.bold(text) : paint.dim(text)),
    },
    { title: 'SET', cell: ({ isSet }) => (isSet ? 'yes' : ''), dropOrder: 1 },
    { title: 'WHAT IT DOES', cell: ({ description }) => description, shrinkTo: 20, dropOrder: 2, paint: paint.dim },
  ]
  const [titles = '', ...lines] = renderTable(columns, rows, widthOf(io.stdout))
  print(io.stdout, [paint.bold(titles), ...lines])
  return EXIT.ok
}

/** `agentproto config get`: what holds, be it set or the default. */
export async function getConfig(io: Io, name: string, { json }: JsonOption): Promise<number> {
  const key = configKey(name)
  const own = valueAt(await readConfigFile(homeOf(io).config), key.path)
  const value = own ?? key.fallback
  if (json === true) printJson(io, { key: key.name, value: value ?? null, set: own !== undefined })
  else if (value !== undefined) print(io.stdout, shown(value))
  return EXIT.ok
}

/** `agentproto config set`. */
export async function setConfig(
  io: Io,
  { name, text }: { readonly name: string; readonly text: string },
  { json }: JsonOption,
): Promise<number> {
  const key = configKey(name)
  return change(io, key, { value: valueOf(key, text), json })
}

/** `agentproto config unset`: the default holds again. */
export async function unsetConfig(io: Io, name: string, { json }: JsonOption): Promise<number> {
  const key = configKey(name)
  return change(io, key, { value: undefined, json })
}

async function change(
  io: Io,
  key: ConfigKey,
  { value, json }: { readonly value: unknown; readonly json: boolean | undefined },
): Promise<number> {
  const home = homeOf(io)
  const about = { action: value === undefined ? 'config-unset' : 'config-set', key: key.name }
  // What was set may be anything: the key tells which to look at.
  await noted(io, about, async () =>
    writeConfigFile(home.config, withValue(await readConfigFile(home.config), key.path, value)),
  )
  if (json === true) printJson(io, { key: key.name, value: value ?? key.fallback ?? null, set: value !== undefined })
  if ((await daemonProcess(home)) !== undefined) {
    print(io.stderr, 'It holds from the next start: agentproto stop && agentproto serve --detach')
  }
  return EXIT.ok
}

const shown = (value: unknown): string =>
  value === undefined ? '–' : typeof value === 'string' ? value : JSON.stringify(value)

/** What a person typed, as the key's type has it; whether it is allowed is the schema's to say. */
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
  try {
    return JSON.parse(text)
  } catch {
    throw new AgentprotoError('invalid_request', `The value of ${name} is not JSON`, {
      given: text,
      hint: `Or set one member: agentproto config set ${name}.<name> <value>`,
    })
  }
}
