import { splitFrontMatter } from './front-matter.js'
import { parseYaml } from './parse-yaml.js'
import { type ManifestProblem, ProblemList } from './problem.js'
import type { RuleContext } from './rule-context.js'
import { checkSchema } from './schema-problems.js'
import type { SchemaName } from './schemas.js'
import { createSourceText } from './source-text.js'
import type { Validator } from './validators/compile-validator.js'
import { locate, type YamlTree } from './yaml-tree.js'

/** A checked value with its warnings, or all problems. */
export type ParseResult<T> =
  | { readonly ok: true; readonly manifest: T; readonly warnings: readonly ManifestProblem[] }
  | { readonly ok: false; readonly problems: readonly ManifestProblem[] }

export interface ParseOptions {
  /** Path of the file as people know it: it appears in every problem. */
  readonly path: string
}

export interface ParseAgentCliOptions extends ParseOptions {
  /** Name of the folder that contains the file, for a path that does not have it. */
  readonly folder?: string
  /** The folder is not the manifest's own, such as that of a package: another name than its own is a warning, not an error. */
  readonly anyFolder?: boolean
  /** Sandbox providers that the host registers in addition to the built-in ones. */
  readonly sandboxProviders?: readonly string[]
}

/** One kind of manifest: how its front matter is checked, and what programs use in its place. */
export interface ManifestKind<Document, Manifest> {
  readonly schema: SchemaName
  readonly validate: Validator
  /** What the schema cannot say. */
  readonly rules?: (context: RuleContext) => void
  readonly normalise: (document: Document) => Manifest
  /** The file may hold a secret by mistake, so problems show no values. */
  readonly confidential?: boolean
}

/** A result, and the means to report more problems in the same file. */
export interface PlacedResult<T> {
  readonly result: ParseResult<T>
  readonly context: RuleContext
}

/** Front matter, YAML, rules, schema, normalised value. Each step runs only if the one before had a result. */
export function parseManifest<Document, Manifest>(
  text: string,
  { path }: ParseOptions,
  kind: ManifestKind<Document, Manifest>,
): PlacedResult<Manifest> {
  const source = createSourceText(text, path)
  const problems = new ProblemList(source, { confidential: kind.confidential ?? false })
  const front = splitFrontMatter(source, problems)
  const tree = front && parseYaml(front, problems)
  const context = ruleContext(tree ?? { value: undefined, offset: 0 }, path, problems)
  if (tree !== undefined) {
    // The rules come first: about a key that the schema only does not know, they say more.
    kind.rules?.(context)
    checkSchema(kind.schema, kind.validate, { tree, problems })
  }
  if (tree === undefined || problems.failed) return { result: { ok: false, problems: problems.sorted() }, context }
  // The schema accepted it.
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
