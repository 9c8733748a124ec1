import { splitFrontMatter } from './front-matter.js'
import { createProblemList } from './problem.js'
import type { ManifestProblem, ProblemList } from './problem.js'
import { checkSchema } from './schema-check.js'
import type { SchemaName } from './schema-registry.js'
import { createSourceText } from './source-text.js'
import { parseYaml } from './parse-yaml.js'
import { locate } from './yaml-tree.js'
import type { YamlTree } from './yaml-tree.js'

/** A checked value with its warnings, or all problems at once. */
export type ParseResult<T> =
  | { readonly ok: true; readonly manifest: T; readonly warnings: readonly ManifestProblem[] }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] }

export interface ParseOptions {
  /** Path of the file as people know it: it appears in every problem. */
  readonly path: string
}

export interface ManifestKind<Document, Manifest> {
  readonly schema: SchemaName
  /** What the schema cannot say. Run on whatever the schema made of the document, so every field may be wrong. */
  readonly rules: (context: RuleContext) => void
  readonly normalise: (document: Document) => Manifest
  /** A secret may stand in it by mistake, so that problems show no values. */
  readonly confidential?: boolean
}

/** What a rule sees: the raw value, and a way to complain about a place in it. */
export interface RuleContext {
  readonly document: unknown
  readonly path: string
  readonly problems: ProblemList
  /** Offset of the value at a path, or of the last part of the path that exists. */
  at(...path: readonly (string | number)[]): number
  /** Offset of the key at a path. */
  keyAt(...path: readonly (string | number)[]): number
}

/** A result with the means to complain further about places in the same file. */
export interface PlacedResult<T> {
  readonly result: ParseResult<T>
  readonly context: RuleContext
}

/** Parses and checks one file, and hands out its outcome alone. */
export const parseManifest = <Document, Manifest>(
  text: string,
  options: ParseOptions,
  kind: ManifestKind<Document, Manifest>,
): ParseResult<Manifest> => parseManifestAt(text, options, kind).result

/** Front matter, YAML, schema, rules, normalised value: each step only when the one before gave it something. */
export function parseManifestAt<Document, Manifest>(
  text: string,
  { path }: ParseOptions,
  kind: ManifestKind<Document, Manifest>,
): PlacedResult<Manifest> {
  const source = createSourceText(text, path)
  const problems = createProblemList(source, { confidential: kind.confidential ?? false })
  const front = splitFrontMatter(source, problems)
  const tree = front && parseYaml(front, problems)
  const context = ruleContext(tree ?? { value: undefined, offset: 0 }, path, problems)
  if (tree === undefined) return { result: { ok: false, problems: problems.sorted() }, context }
  // The rules come first: they say more about a key that the schema only does not know.
  kind.rules(context)
  checkSchema(kind.schema, tree, problems)
  if (problems.failed) return { result: { ok: false, problems: problems.sorted() }, context }
  // The schema has just said that it is one.
  const manifest = kind.normalise(tree.value as Document)
  return { result: { ok: true, manifest, warnings: problems.sorted() }, context }
}

const ruleContext = (tree: YamlTree, path: string, problems: ProblemList): RuleContext => ({
  document: tree.value,
  path,
  problems,
  at: (...steps) => locate(tree, steps).value,
  keyAt: (...steps) => locate(tree, steps).key,
})
