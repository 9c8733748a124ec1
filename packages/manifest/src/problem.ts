import { defined } from '@agentproto/contracts'
import type { SourceText } from './source-text.js'

/** What is wrong in a manifest, where, and what to write instead. */

/** Every code of a problem. */
export const PROBLEM_CODES = [
  // The file and its front matter.
  'file_unreadable',
  'file_too_large',
  'encoding_invalid',
  'byte_order_mark',
  'control_character',
  'front_matter_missing',
  'front_matter_unclosed',
  'front_matter_language',
  // YAML and JSON.
  'json_syntax',
  'yaml_syntax',
  'yaml_tag',
  'yaml_alias',
  'yaml_too_large',
  'key_duplicate',
  'key_forbidden',
  // The schema.
  'key_missing',
  'key_unknown',
  'type_mismatch',
  'value_unknown',
  'value_malformed',
  'value_out_of_range',
  'value_too_short',
  'value_too_long',
  'item_duplicate',
  'schema_violated',
  'too_many_problems',
  // Rules between fields.
  'name_mismatch',
  'protocol_unsupported',
  'id_duplicate',
  'option_incomplete',
  'option_default_invalid',
  'option_without_effect',
  'bounds_reversed',
  'continuation_default_unsupported',
  'capability_required',
  'mcp_incomplete',
  'block_ignored',
  'regex_invalid',
  'regex_slow',
  'range_invalid',
  'install_missing',
  'model_not_allowed',
  'step_incomplete',
  'step_reference_unknown',
  'sandbox_provider_unknown',
  'secret_in_manifest',
  'endpoint_invalid',
  'secret_in_argv',
  // Referenced files.
  'reference_missing',
  'reference_invalid',
  'capability_undeclared',
  'endpoint_missing',
  'endpoint_undeclared',
  'secret_undeclared',
] as const

export type ProblemCode = (typeof PROBLEM_CODES)[number]

/** Problems with values that may be a secret, or hold one by mistake. */
const CONFIDENTIAL: ReadonlySet<ProblemCode> = new Set<ProblemCode>(['secret_in_manifest', 'endpoint_invalid'])

export interface ManifestProblem {
  readonly code: ProblemCode
  /** A manifest with an error is refused; one with warnings is not. */
  readonly severity: 'error' | 'warning'
  /** One sentence that names the field. */
  readonly message: string
  /** The path as the caller gave it. */
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1, in UTF-16 code units. */
  readonly column: number
  /** The line itself, cut to 160 characters. */
  readonly excerpt: string
  /** What was expected, as a noun phrase. */
  readonly expected?: string
  /** What the file contains, cut to 80 characters. */
  readonly given?: string
  /** What to write instead: the closest key, the closest value, or the value rewritten. */
  readonly suggestion?: string
}

export interface ProblemParts {
  readonly message: string
  readonly expected?: string | undefined
  readonly given?: unknown
  readonly suggestion?: string | undefined
}

/** How many problems of one file are reported. */
export const PROBLEMS_MAX = 100

/**
 * Collects the problems of one file, at most 100. Of a confidential file it shows keys and never values, because a
 * secret may be in it by mistake.
 */
export class ProblemList {
  readonly #source: SourceText
  readonly #confidential: boolean
  readonly #problems: ManifestProblem[] = []
  readonly #errorOffsets = new Set<number>()
  /** Whether an error was reported. */
  failed = false
  /** Whether the limit is reached, so that more problems would not be reported. */
  full = false

  constructor(source: SourceText, { confidential = false } = {}) {
    this.#source = source
    this.#confidential = confidential
  }

  /** @returns undefined, for a reader that can make nothing of its input then */
  error(code: ProblemCode, offset: number, parts: ProblemParts): undefined {
    this.#errorOffsets.add(offset)
    this.#add(this.#placed({ code, severity: 'error', ...parts }, offset))
  }

  warn(code: ProblemCode, offset: number, parts: ProblemParts): void {
    this.#add(this.#placed({ code, severity: 'warning', ...parts }, offset))
  }

  /** Adds the problems of another file. */
  adopt(problems: readonly ManifestProblem[]): void {
    for (const problem of problems) this.#add(problem)
  }

  /** Whether an error was reported at this very place. */
  hasErrorAt(offset: number): boolean {
    return this.#errorOffsets.has(offset)
  }

  /** In the order of the file; those of other files come after them. */
  sorted(): readonly ManifestProblem[] {
    const { file } = this.#source
    return this.#problems.toSorted(
      (a, b) =>
        Number(a.file !== file) - Number(b.file !== file) ||
        (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line || a.column - b.column),
    )
  }

  #add(problem: ManifestProblem): void {
    if (this.full) return
    this.full = this.#problems.length === PROBLEMS_MAX
    this.failed ||= this.full || problem.severity === 'error'
    const message = `There are more than ${PROBLEMS_MAX} problems. The others are not shown.`
    this.#problems.push(this.full ? { ...problem, code: 'too_many_problems', severity: 'error', message } : problem)
  }

  #placed({ code, severity, message, expected, given, suggestion }: Finding, offset: number): ManifestProblem {
    const problem: ManifestProblem = {
      code,
      severity,
      message,
      file: this.#source.file,
      ...this.#source.position(offset),
      excerpt: this.#source.excerpt(offset),
      ...defined({ expected, given: given === undefined ? undefined : show(given), suggestion }),
    }
    return this.#confidential || CONFIDENTIAL.has(code) ? withoutValues(problem) : problem
  }
}

type Finding = ProblemParts & Pick<ManifestProblem, 'code' | 'severity'>

/** The problem with the key of its line only. Suggestions that are rewritten values would show them too. */
function withoutValues({ given, suggestion, ...problem }: ManifestProblem): ManifestProblem {
  const key = /^[\s-]*[\w-]{1,40}:/.exec(problem.excerpt)?.[0] ?? ''
  const excerpt = `${key} …`.trimStart()
  // The parser's own sentences quote the text after a colon.
  const message = problem.code.startsWith('yaml_') ? problem.message.replace(/:.*$/, '.') : problem.message
  const ofVocabulary = problem.code === 'key_unknown' || problem.code === 'value_unknown'
  return {
    ...problem,
    message,
    excerpt,
    ...(problem.code === 'key_unknown' ? defined({ given }) : {}),
    ...(ofVocabulary ? defined({ suggestion }) : {}),
  }
}

/** A value as people would write it, on one line, cut to 80 characters. */
export function show(value: unknown): string {
  // JSON has no text for undefined alone.
  const text = typeof value === 'string' ? value : (value ?? null) === null ? 'nothing' : JSON.stringify(value)
  const line = text.replace(/\s+/g, ' ')
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}

/** One problem on two lines for people: place, message, expected, given, suggestion, excerpt. */
export function formatProblem(problem: ManifestProblem): string {
  const { file, line, column, severity, code, message, expected, given, suggestion, excerpt } = problem
  const parts = Object.entries(defined({ expected, given, try: suggestion }))
  const details = parts.map(([name, text]) => `${name} ${text}`).join('; ')
  const tail = details === '' ? '' : ` (${details})`
  return `${file}:${line}:${column} ${severity} ${code}: ${message}${tail}${excerpt === '' ? '' : `\n    ${excerpt}`}`
}
