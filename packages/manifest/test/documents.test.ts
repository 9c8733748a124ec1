import { expect, test } from 'vitest'
import type { AgentCliDocument } from '@agentproto/manifest'
import type { AuthDocument, ModeDocument, OptionDocument, SandboxDocument } from '../src/agent-cli-document.js'
import { schemas } from '../src/schemas.js'

// The types of what people write are kept by hand; the compiler checks these tables against them, and the
// tests check the tables against the schemas.

/** Every key of a type, and whether it may be absent. */
type Shape<T> = { readonly [K in keyof Required<T>]: object extends Pick<T, K> ? 'optional' : 'required' }

const agentCli: Shape<AgentCliDocument> = {
  name: 'required',
  id: 'required',
  description: 'required',
  version: 'required',
  bin: 'required',
  bin_args: 'optional',
  install: 'required',
  version_check: 'required',
  requires: 'optional',
  setup: 'optional',
  auth: 'optional',
  sandbox: 'required',
  runner: 'optional',
  protocol: 'required',
  acp: 'optional',
  mcp: 'optional',
  adapter: 'optional',
  session: 'optional',
  models: 'optional',
  capabilities: 'optional',
  modes: 'optional',
  options: 'optional',
  continuation: 'optional',
  examples: 'optional',
  tags: 'optional',
  metadata: 'optional',
}
const versionCheck: Shape<AgentCliDocument['version_check']> = {
  cmd: 'required',
  parse: 'required',
  range: 'required',
  timeout_ms: 'optional',
}
const requires: Shape<NonNullable<AgentCliDocument['requires']>> = {
  os: 'optional',
  arch: 'optional',
  min_disk_mb: 'optional',
  min_memory_mb: 'optional',
}
const mcp: Shape<NonNullable<AgentCliDocument['mcp']>> = {
  transport: 'required',
  command: 'optional',
  args: 'optional',
  url: 'optional',
}
const session: Shape<NonNullable<AgentCliDocument['session']>> = {
  mode: 'optional',
  idle_timeout_ms: 'optional',
  max_turns: 'optional',
  context_carryover: 'optional',
}
const models: Shape<NonNullable<AgentCliDocument['models']>> = {
  default: 'optional',
  allowed: 'optional',
  env: 'optional',
}
const capabilities: Shape<NonNullable<AgentCliDocument['capabilities']>> = {
  streaming: 'optional',
  tool_calls: 'optional',
  sub_agents: 'optional',
  file_io: 'optional',
  multimodal: 'optional',
  resumable: 'optional',
  bidirectional: 'optional',
}
const mode: Shape<ModeDocument> = {
  id: 'required',
  description: 'optional',
  bin_args_append: 'optional',
  env: 'optional',
}
const option: Shape<OptionDocument> = {
  id: 'required',
  type: 'required',
  description: 'optional',
  enum: 'optional',
  default: 'optional',
  min: 'optional',
  max: 'optional',
  bin_args_template: 'optional',
  bin_args_append_when_true: 'optional',
  env: 'optional',
}
const continuation: Shape<NonNullable<AgentCliDocument['continuation']>> = {
  default: 'required',
  supported: 'required',
  pinned_session: 'optional',
}
const auth: Shape<AuthDocument> = {
  ref: 'optional',
  state: 'optional',
  login: 'optional',
  refresh: 'optional',
  expiry: 'optional',
}
const sandbox: Shape<SandboxDocument> = {
  schema: 'optional',
  id: 'optional',
  version: 'optional',
  name: 'optional',
  description: 'optional',
  provider: 'required',
  config: 'optional',
  limits: 'optional',
  env: 'optional',
  network: 'optional',
  mounts: 'optional',
  lifecycle: 'optional',
  read_only: 'optional',
  fs: 'optional',
  exec: 'optional',
  tty: 'optional',
  identity: 'optional',
  policy: 'optional',
  metadata: 'optional',
}

const { properties } = schemas['agent-cli']
const { $defs } = schemas.blocks

test.each([
  ['AGENT-CLI.md', agentCli, schemas['agent-cli']],
  ['version_check', versionCheck, $defs.versionCheck],
  ['requires', requires, $defs.requires],
  ['mcp', mcp, properties.mcp],
  ['session', session, properties.session],
  ['models', models, properties.models],
  ['capabilities', capabilities, properties.capabilities],
  ['modes', mode, properties.modes.items],
  ['options', option, properties.options.items],
  ['continuation', continuation, properties.continuation],
  ['auth', auth, $defs.auth],
  ['sandbox', sandbox, $defs.sandboxProfile],
])(
  'the type of %s has the keys of its schema',
  (_, shape: object, schema: { properties: object; required?: readonly string[] }) => {
    expect(Object.keys(shape).toSorted()).toEqual(Object.keys(schema.properties).toSorted())
    const required = Object.entries(shape).flatMap(([key, need]) => (need === 'required' ? [key] : []))
    expect(required.toSorted()).toEqual([...(schema.required ?? [])].toSorted())
  },
)
