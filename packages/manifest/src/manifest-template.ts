import { defined } from '@agentproto/contracts'
import validVersion from 'semver/functions/valid.js'
import { stringify } from 'yaml'
import type { AcpAgentCapabilities } from './acp-profile.js'
import { isPlain, oneLine, type OwnMode, ownModes } from './own-modes.js'
import { schemas } from './schemas.js'

/** What an agent answered of itself, as far as a manifest has a place for it. */
export interface AgentAnswers extends AcpAgentCapabilities {
  readonly name?: string
  readonly version?: string
  readonly modes: readonly OwnMode[]
  readonly models: readonly string[]
  readonly defaultModel?: string
  readonly logins: readonly { readonly id: string; readonly name: string; readonly needsTerminal: boolean }[]
}

export interface TemplateOptions {
  /** The name of the adapter and of its folder. */
  readonly id: string
  readonly protocol: 'acp' | 'mcp'
  /** The program and its arguments. Default: a program with the name of the adapter. */
  readonly command?: readonly [string, ...string[]]
  /** Where an agent that speaks ACP is reached, if it is not launched: the block of `metadata.agentproto`. */
  readonly endpoint?: { readonly url: string; readonly headers?: Readonly<Record<string, string>> }
  /** Of a running agent; a template has placeholders instead. */
  readonly answers?: AgentAnswers
}

/** Whether a name can be that of an adapter. */
export const isAdapterId = (name: string): boolean => new RegExp(schemas.blocks.$defs.id.pattern).test(name)

/**
 * The files of a new adapter, by name. They are valid, and comments name what the author must check.
 * Texts of the agent are single-line values, so that none can add a key.
 */
export function manifestTemplate(options: TemplateOptions): ReadonlyMap<string, string> {
  const files = new Map([['AGENT-CLI.md', agentCli(options)]])
  if (options.protocol === 'acp') files.set('ACP.md', acp(options))
  return files
}

function agentCli(options: TemplateOptions): string {
  return options.endpoint === undefined ? launched(options) : elsewhere(options, options.endpoint)
}

/** AIP-45 needs a program, and a way to install it: a host that does not know endpoints skips it. */
function elsewhere({ id, answers }: TemplateOptions, endpoint: NonNullable<TemplateOptions['endpoint']>): string {
  const { host } = new URL(endpoint.url)
  return page([
    yaml({ name: id, id, description: `${oneLine(answers?.name ?? id)} at ${host}.`, version: '0.1.0' }),
    '# The agent runs elsewhere: nothing is installed or launched.',
    yaml({
      bin: id,
      install: [{ method: 'endpoint', experimental: true }],
      version_check: { cmd: `${id} --version`, parse: String.raw`(\d+\.\d+\.\d+)`, range: '*' },
      sandbox: { provider: 'local' },
      protocol: 'acp',
      acp: './ACP.md',
      ...(answers?.loadSession === true ? { session: { mode: 'resumable' } } : {}),
      capabilities: capabilities(answers),
      metadata: { agentproto: { endpoint } },
    }),
    '---',
    '',
    `# ${oneLine(answers?.name ?? id)}`,
    '',
    `It runs at ${host}, with the files and the sandbox of that machine.`,
  ])
}

function launched({ id, protocol, command: [bin, ...binArgs] = [id], answers }: TemplateOptions): string {
  const program = bin.split(/[/\\]/).at(-1) ?? bin
  const version = validVersion(answers?.version ?? '') ?? undefined
  return page([
    yaml({ name: id, id, description: described(id, answers), version: '0.1.0', bin, bin_args: binArgs }),
    '# Replace this by how the agent is installed: npm, pip, brew, download and others.',
    yaml({ install: [{ method: 'npm', package: program }] }),
    '# Check that it ends by itself, and narrow the range to what you have tested.',
    yaml({
      version_check: {
        cmd: `${program} --version`,
        parse: String.raw`(\d+\.\d+\.\d+)`,
        range: version === undefined ? '*' : `>=${version}`,
        timeout_ms: 15_000,
      },
    }),
    yaml({ sandbox: { provider: 'local' }, protocol }),
    protocol === 'acp' ? yaml({ acp: './ACP.md' }) : yaml({ mcp: { transport: 'stdio', command: bin, args: binArgs } }),
    yaml({ capabilities: capabilities(answers) }),
    ...(answers === undefined ? [] : discovered(answers)),
    '---',
    '',
    `# ${oneLine(answers?.name ?? id)}`,
    '',
    'What a person should know who drives it.',
    ...loginLines(answers),
  ])
}

function discovered({ modes, models, defaultModel = '', version }: AgentAnswers): readonly string[] {
  const { entries, session_modes } = ownModes(modes)
  const allowed = models.filter(isPlain)
  const tested = version === undefined ? undefined : oneLine(version)
  return [
    ...(entries.length === 0
      ? []
      : ['# Each is set in the session, by the agent’s own name below.', yaml({ modes: entries })]),
    ...(allowed.length === 0
      ? []
      : [yaml({ models: defined({ default: isPlain(defaultModel) ? defaultModel : undefined, allowed }) })]),
    yaml({
      metadata: {
        agentproto: defined({
          tested,
          session_modes: entries.length === 0 ? undefined : session_modes,
          unverified: ['Everything but what the agent answers before the first prompt'],
        }),
      },
    }),
  ]
}

const capabilities = (answers: AgentAnswers | undefined): object => ({
  streaming: true,
  tool_calls: true,
  multimodal: answers !== undefined && (answers.image || answers.audio),
  resumable: answers?.loadSession ?? false,
  bidirectional: true,
})

function acp({ id, answers, endpoint }: TemplateOptions): string {
  const [transport, wire] = endpoint === undefined ? ['stdio', 'stdio'] : ['websocket', 'a WebSocket']
  const { loadSession = false, image = false, audio = false, embeddedContext = false } = answers ?? {}
  const { mcpHttp: http = false, mcpSse: sse = false } = answers ?? {}
  const agent = { loadSession, promptCapabilities: { image, audio, embeddedContext }, mcpCapabilities: { http, sse } }
  const client = { fs: { readTextFile: false, writeTextFile: false }, terminal: false }
  return page([
    yaml({
      name: `${id} over ACP`,
      id: `${id.slice(0, 60)}-acp`,
      description: `What the agent offers on ACP version 1 over ${wire}.`,
      version: '0.1.0',
      kind: 'client',
      transport,
      metadata: { aip44: { acp_rev: ACP_REV, tier: 'basic', capabilities: { client, agent } } },
    }),
    '---',
  ])
}

/** Revision of the upstream protocol that this version speaks. */
const ACP_REV = '064ee1ffe194cdb14e1d45d66875ce74a14933c3'

const described = (id: string, answers: AgentAnswers | undefined): string =>
  answers === undefined ? `What ${id} is, in a sentence or two.` : `${oneLine(answers.name ?? id)} over ACP.`

function loginLines(answers: AgentAnswers | undefined): readonly string[] {
  if (answers === undefined || answers.logins.length === 0) return []
  const lines = answers.logins.map(
    ({ id, name, needsTerminal }) =>
      `- ${oneLine(name)} (\`${oneLine(id)}\`${needsTerminal ? ', needs a terminal' : ''})`,
  )
  return ['', '**Login.** The agent names these ways. Write the command into `auth.login`:', '', ...lines]
}

const page = (parts: readonly string[]): string => ['---', ...parts].join('\n').concat('\n')
const yaml = (value: object): string => stringify(value, { lineWidth: 0 }).trimEnd()
