import { asList, asRecord, isRecord, type Json } from '@agentproto/contracts'
import { type AgentCliManifest, fillTemplate } from '@agentproto/manifest'
import { manifestHint, member } from './manifest-hint.js'

/** How an agent gets instructions for a whole conversation, apart from any prompt. */
export interface InstructionChannel {
  readonly args: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly options: Readonly<Record<string, string>>
  /** `_meta` of the requests that open a session, where the protocol has such. */
  readonly meta?: Readonly<Record<string, unknown>>
}

/** A single argument or variable may have 128 KiB on Linux. */
const MAX_BYTES = 96 * 1024

/**
 * The agent's own channel, by `metadata.agentproto.instructions`: `bin_args_template`, `env`, `option` or
 * `session_meta`, each with `{value}` where the text goes. Undefined where the manifest names none, or where it cannot
 * carry this text: then the host sends it with the first prompt.
 */
export function instructionChannel(
  manifest: Pick<AgentCliManifest, 'metadata'>,
  text: string | undefined,
): InstructionChannel | undefined {
  const hint = manifestHint(manifest, 'instructions')
  if (text === undefined || hint === undefined) return undefined
  const template = asList(member(hint, 'bin_args_template')).map(String)
  const env = Object.entries(asRecord(member(hint, 'env'))).filter(isText)
  const option = member(hint, 'option')
  const meta = member(hint, 'session_meta')
  const byProcess = template.length > 0 || env.length > 0 || typeof option === 'string'
  if (byProcess ? !fitsProcess(text, template) : !isRecord(meta)) return undefined
  return {
    args: template.map((arg) => fillTemplate(arg, text)),
    env: Object.fromEntries(env.map(([name, value]) => [name, fillTemplate(value, text)])),
    options: typeof option === 'string' ? { [option]: text } : {},
    ...(isRecord(meta) ? { meta: filled(meta, text) as Json } : {}),
  }
}

/** Alone in its argument, what begins like a flag would be one. */
const fitsProcess = (text: string, args: readonly string[]): boolean =>
  Buffer.byteLength(text) <= MAX_BYTES && !text.includes('\0') && !(text.startsWith('-') && args.includes('{value}'))

function filled(template: unknown, text: string): unknown {
  if (typeof template === 'string') return template.replaceAll('{value}', () => text)
  if (Array.isArray(template)) return template.map((item) => filled(item, text))
  if (!isRecord(template)) return template
  return Object.fromEntries(Object.entries(template).map(([key, value]) => [key, filled(value, text)]))
}

const isText = (entry: [string, unknown]): entry is [string, string] => typeof entry[1] === 'string'
