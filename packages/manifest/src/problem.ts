import type { SourceText } from './source-text.js'

/** What is wrong with a manifest, where, and what to write instead. */

/** Every code that the checker reports. */
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
  'model_not_allowed',
  'step_incomplete',
  'step_reference_unknown',
  'sandbox_provider_unknown',
  'secret_in_manifest',
  'secret_in_argv',
  // Referenced files.
  'reference_missing',
  'reference_invalid',
  'capability_undeclared',
  'secret_undeclared',
] as const

export type ProblemCode = (typeof PROBLEM_CODES)[number]

export interface ManifestProblem {
  readonly code: ProblemCode
  /** An error refuses the manifest; a warning does not. */
  readonly severity: 'error' | 'warning'
  /** One sentence that names the field. */
  readonly message: string
  /** As the caller named it. */
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1, in UTF-16 code units. */
  readonly column: number
  /** The line itself, cut to 160 characters. */
  readonly excerpt: string
  /** What was expected, as a noun phrase. */
  readonly expected?: string
  /** What stands there, cut to 80 characters. */
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

/** Collects the problems of one file. */
export interface ProblemList {
  error(code: ProblemCode, offset: number, parts: ProblemParts): void
  warn(code: ProblemCode, offset: number, parts: ProblemParts): void
  /** Takes over what was found in another file. */
  adopt(problems: readonly ManifestProblem[]): void
  readonly failed: boolean
  /** Whether an error was reported at this very place. */
  hasErrorAt(offset: number): boolean
  /** Nothing more is taken. */
  readonly full: boolean
  /** In the order of the file. */
  sorted(): readonly ManifestProblem[]
}

/** How many problems of one file are told. */
export const PROBLEMS_MAX = 100

/**
 * An empty list for a file; beyond 100 problems it only says that there are more. Of a confidential file it
 * shows keys and never values, since a secret may stand there by mistake.
 */
export function createProblemList(source: SourceText, { confidential = false } = {}): ProblemList {
  const problems: ManifestProblem[] = []
  const errorOffsets = new Set<number>()
  let full = false
  let failed = false

  const add = (problem: ManifestProblem): void => {
    failed ||= problem.severity === 'error'
    if (problems.length < PROBLEMS_MAX) problems.push(problem)
    else if (!full) {
      full = true
      problems.push({
        ...problem,
        code: 'too_many_problems',
        severity: 'error',
        message: `There are more than ${PROBLEMS_MAX} problems; the rest is left out.`,
      })
      failed = true
    }
  }
  const at =
    (severity: ManifestProblem['severity']) =>
    (code: ProblemCode, offset: number, parts: ProblemParts): void => {
      if (severity === 'error') errorOffsets.add(offset)
      const problem = makeProblem(source, { code, severity, offset, parts })
      add(confidential || code === 'secret_in_manifest' ? withoutValues(problem) : problem)
    }

  return {
    error: at('error'),
    warn: at('warning'),
    adopt: (others) => others.forEach(add),
    get failed() {
      return failed
    },
    hasErrorAt: (offset) => errorOffsets.has(offset),
    get full() {
      return full
    },
    sorted: () => problems.toSorted(byPlace(source.file)),
  }
}

interface Finding {
  readonly code: ProblemCode
  readonly severity: ManifestProblem['severity']
  readonly offset: number
  readonly parts: ProblemParts
}

function makeProblem(source: SourceText, { code, severity, offset, parts }: Finding): ManifestProblem {
  const { line, column } = source.position(offset)
  return {
    code,
    severity,
    message: parts.message,
    file: source.file,
    line,
    column,
    excerpt: source.excerpt(offset),
    ...(parts.expected === undefined ? {} : { expected: parts.expected }),
    ...(parts.given === undefined ? {} : { given: show(parts.given) }),
    ...(parts.suggestion === undefined ? {} : { suggestion: parts.suggestion }),
  }
}

/** The problem with the key of its line only. */
function withoutValues({ given, ...problem }: ManifestProblem): ManifestProblem {
  const key = /^[\s-]*[\w-]{1,40}:/.exec(problem.excerpt)?.[0] ?? ''
  return {
    ...problem,
    excerpt: `${key} …`.trimStart(),
    ...(given === undefined || problem.code !== 'key_unknown' ? {} : { given }),
  }
}

/** A value as people would write it, on one line, cut to 80 characters. */
export function show(value: unknown): string {
  if (value === null) return 'nothing'
  // JSON has no text for undefined alone.
  const text = typeof value === 'string' ? value : value === undefined ? 'nothing' : JSON.stringify(value)
  const line = text.replace(/\s+/g, ' ')
  return line.length > 80 ? `${line.slice(0, 79)}…` : line
}

/** The file that was asked for first, the files it refers to after it. */
const byPlace =
  (file: string) =>
  (a: ManifestProblem, b: ManifestProblem): number =>
    Number(a.file !== file) - Number(b.file !== file) ||
    (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line || a.column - b.column)

/** One problem on two lines for people: place, message, expected, given, suggestion, excerpt. */
export function formatProblem(problem: ManifestProblem): string {
  const { file, line, column, severity, code, message, expected, given, suggestion, excerpt } = problem
  const details = [
    expected === undefined ? undefined : `expected ${expected}`,
    given === undefined ? undefined : `given ${given}`,
    suggestion === undefined ? undefined : `try ${suggestion}`,
  ].filter((part) => part !== undefined)
  const tail = details.length === 0 ? '' : ` (${details.join('; ')})`
  return `${file}:${line}:${column} ${severity} ${code}: ${message}${tail}${excerpt === '' ? '' : `\n    ${excerpt}`}`
}
