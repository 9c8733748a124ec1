import { readFileSync } from 'node:fs'
import { parseArgs } from 'node:util'
import * as z from 'zod'
import { errorText } from './error-text.js'
import { MODELS, MODES, type SessionDefaults } from './session.js'
import { WORDS } from './words.js'

/** What the command line asks for. */
export type Command =
  | { readonly run: 'print'; readonly text: string }
  | { readonly run: 'refuse'; readonly message: string }
  | { readonly run: 'serve'; readonly defaults: SessionDefaults; readonly mcpHttp: boolean }

const OPTIONS = {
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean', short: 'V' },
  'mcp-stdio-only': { type: 'boolean', default: false },
  mode: { type: 'string', default: MODES[0].id },
  model: { type: 'string', default: MODELS[0].id },
} as const

export function parseCommandLine(args: readonly string[]): Command {
  try {
    const { values } = parseArgs({ args: [...args], options: OPTIONS })
    if (values.help) return { run: 'print', text: helpText() }
    if (values.version) return { run: 'print', text: `${versionText()}\n` }
    const defaults = { modeId: oneOf(MODES, '--mode', values.mode), modelId: oneOf(MODELS, '--model', values.model) }
    return { run: 'serve', defaults, mcpHttp: !values['mcp-stdio-only'] }
  } catch (error) {
    return { run: 'refuse', message: `agentproto-demo-agent: ${errorText(error)} (see --help)` }
  }
}

function oneOf(known: readonly { readonly id: string }[], flag: string, id: string): string {
  if (known.some((one) => one.id === id)) return id
  throw new Error(`${flag} must be one of ${known.map((one) => one.id).join(', ')}, not ${id}`)
}

/** Version of the package that this file was shipped in. */
export function versionText(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return z.object({ version: z.string() }).parse(manifest).version
}

function helpText(): string {
  const usages = Object.entries(WORDS).map(([name, word]) => [`${name} ${word.usage}`.trim(), word.summary] as const)
  const width = Math.max(...usages.map(([usage]) => usage.length))
  const lines = usages.map(([usage, summary]) => `  ${usage.padEnd(width)}  ${summary}`)
  return `agentproto-demo-agent: a deterministic ACP agent on stdin and stdout, without network.

Options
  --model ID   model that new sessions start with: ${MODELS.map((model) => model.id).join(', ')}
  --mode ID    mode that new sessions start in: ${MODES.map((mode) => mode.id).join(', ')}
  --mcp-stdio-only
               take MCP servers that are programs, and none over HTTP
  --help       this text
  --version    the version

The first word of a prompt says what it does. Words are joined by ";" ("\\;" is a literal one).
${lines.join('\n')}
  ${'anything else'.padEnd(width)}  answers "echo: " and the text

session/cancel ends every word at once with "cancelled", but for "hang!".
Sessions are kept in $AGENTPROTO_DEMO_HOME, else $XDG_STATE_HOME/agentproto-demo,
else ~/.local/state/agentproto-demo.
`
}
