import type { Budget, NotifyEvent } from '@agentproto/contracts'
import type { ParseOptions, ParseResult } from './parse-manifest.js'
import { parseYaml } from './parse-yaml.js'
import { ProblemList } from './problem.js'
import { checkSchema } from './schema-problems.js'
import { createSourceText } from './source-text.js'
import { validate } from './validators/config.js'

/** A gateway's config.json, checked; every key is optional (`config.schema.json` says what each does). */
export interface GatewayConfig {
  readonly sessions?: SessionsConfig
  /** Milliseconds. */
  readonly limits?: { readonly handshakeMs?: number; readonly openMs?: number }
  readonly durability?: 'kernel' | 'disk'
  /** `true` and `false` stand for `enabled`. */
  readonly keeper?: boolean | { readonly enabled?: boolean; readonly orphanMs?: number }
  readonly adapters?: readonly string[]
  readonly bundledAdapters?: boolean
  readonly executables?: Readonly<Record<string, string>>
  readonly environment?: 'filtered' | 'isolated'
  readonly homes?: 'operator' | 'isolated'
  readonly sandbox?: 'warn' | 'refuse'
  readonly serve?: { readonly fs?: boolean; readonly terminal?: boolean }
  readonly sandboxProviders?: Readonly<Record<string, string>>
  readonly listen?: {
    readonly host?: string
    readonly port?: number
    readonly allowRemote?: boolean
    readonly maxConnections?: number
    /** Absolute paths. */
    readonly tls?: { readonly cert?: string; readonly key?: string; readonly clientCa?: string }
  }
  readonly cluster?: {
    readonly servers?: readonly string[]
    /** Absolute paths. */
    readonly credentials?: string
    readonly nkey?: string
    readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string }
    readonly key?: string
    readonly host?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly leaseMs?: number
  }
  readonly log?: {
    readonly level?: 'debug' | 'info' | 'warn' | 'error' | 'off'
    readonly maxBytes?: number
    readonly files?: number
  }
  readonly checkpoints?: {
    readonly enabled?: boolean
    readonly maxAgeMs?: number
    readonly fileBytes?: number
    readonly files?: number
    readonly bytes?: number
    readonly timeMs?: number
  }
  readonly notify?: {
    /** Of the command line; the gateway does not read it. */
    readonly terminal?: boolean
    readonly on?: readonly NotifyEvent[]
    readonly turnMs?: number
    readonly delayMs?: number
    readonly workspaces?: readonly string[]
    readonly labels?: readonly string[]
    readonly command?: readonly string[]
    readonly webhook?: { readonly url?: string; readonly secret?: string; readonly allowPrivate?: boolean }
    readonly outbox?: { readonly entries?: number; readonly bytes?: number; readonly maxAgeMs?: number }
  }
  readonly endpoints?: { readonly private?: readonly string[] }
  readonly registry?: { readonly url?: string }
  readonly audit?: boolean
  readonly allowedHosts?: readonly string[]
  readonly publicUrl?: string
  readonly allowedOrigins?: readonly string[]
}

/** Limits by their key, and what sessions may use. */
export type SessionsConfig = Readonly<Record<string, number>> | { readonly budgets?: BudgetsConfig }

export interface BudgetsConfig {
  readonly session?: Budget
  readonly day?: Budget
  readonly workspaces?: Readonly<Record<string, { readonly day?: Budget; readonly total?: Budget }>>
}

const CHARS_MAX = 64 * 1024

/**
 * Parses and checks the text of a config.json: all problems, each with its line and column. An unknown key
 * is a problem. Never throws for the content of the text.
 */
export function parseConfig(text: string, { path }: ParseOptions): ParseResult<GatewayConfig> {
  const problems = new ProblemList(createSourceText(text, path))
  const value = readJson(text, problems)
  if (value === undefined || problems.failed) return { ok: false, problems: problems.sorted() }
  // The schema has just said that it is one.
  const { $schema: _, ...config } = value as GatewayConfig & { readonly $schema?: string }
  return { ok: true, manifest: config, warnings: problems.sorted() }
}

/** The value of a JSON text, checked against the schema. JSON is also YAML, and the YAML reader knows the places. */
function readJson(text: string, problems: ProblemList): unknown {
  if (text.length > CHARS_MAX) {
    const expected = `at most ${CHARS_MAX} characters`
    return problems.error('file_too_large', 0, { message: 'The file is too large.', expected, given: text.length })
  }
  const tree = parseYaml({ yaml: text, offset: 0 }, problems)
  const fault = jsonFault(text)
  if (fault !== undefined && !problems.failed) {
    const expected = 'JSON: names and strings in double quotes, no comments, no comma after the last item'
    problems.error('json_syntax', fault.offset, { message: 'The file is not JSON.', expected, given: fault.message })
  }
  if (tree === undefined || fault !== undefined) return undefined
  checkSchema('config', validate, { tree, problems })
  return tree.value
}

/** Why a text is not JSON, and where, as far as the engine reports it. */
function jsonFault(text: string): { readonly offset: number; readonly message: string } | undefined {
  try {
    JSON.parse(text)
    return undefined
  } catch (thrown) {
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    const offset = Number(/at position (\d+)/.exec(message)?.[1] ?? 0)
    return { offset: Math.min(offset, text.length), message }
  }
}
