import { readFileSync } from 'node:fs'
import * as z from 'zod'
import { MODELS, MODES, type SessionDefaults } from './session.js'
import { WORDS } from './words.js'

/** What the command line asks for. */
export type Command =
  | { readonly run: 'help' | 'version' }
  | { readonly run: 'refuse'; readonly message: string }
  | { readonly run: 'serve'; readonly defaults: SessionDefaults; readonly mcpHttp: boolean }

export function parseCommandLine(argv: readonly string[]): Command {
  let defaults: SessionDefaults = { modeId: MODES[0].id, modelId: MODELS[0].id }
  let mcpHttp = true
  for (let i = 0; i < argv.length; i++) {
    const flag = argv[i]
    if (flag === '--help' || flag === '-h') return { run: 'help' }
    if (flag === '--version' || flag === '-V') return { run: 'version' }
    if (flag === '--mcp-stdio-only') {
      mcpHttp = false
      continue
    }
    const allowed = flag === '--model' ? MODELS : flag === '--mode' ? MODES : undefined
    if (!allowed) return refuse(`does not know ${flag}`)
    const value = argv[++i]
    if (!allowed.some((one) => one.id === value)) {
      return refuse(`${flag} must be one of ${allowed.map((one) => one.id).join(', ')}, not ${value}`)
    }
    defaults = { ...defaults, [flag === '--model' ? 'modelId' : 'modeId']: value }
  }
  return { run: 'serve', defaults, mcpHttp }
}

const refuse = (what: string): Command => ({ run: 'refuse', message: `agentproto-demo-agent: ${what} (see --help)` })

/** Version of the package that this file was shipped in. */
export function versionText(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return z.object({ version: z.string() }).parse(manifest).version
}

export function helpText(): string {
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
