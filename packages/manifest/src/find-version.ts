import { createContext, Script } from 'node:vm'
import satisfies from 'semver/functions/satisfies.js'
import validVersion from 'semver/functions/valid.js'
import type { VersionCheck } from './agent-cli-manifest.js'
import { regexProblem } from './regex-shape.js'

export type FoundVersion =
  | { readonly found: true; readonly version: string; readonly inRange: boolean }
  | { readonly found: false; readonly reason: string }

const OUTPUT_CHARS_MAX = 64 * 1024
const MATCH_MS_MAX = 250

/**
 * Finds the version in the output of `version_check.cmd`, and whether it is in the manifest's range; a pre-release can
 * be in range. The regular expression is not trusted: it is refused when it could end the V8 process, and stopped after
 * a quarter of a second.
 */
export function findVersion({ parse, range }: Pick<VersionCheck, 'parse' | 'range'>, output: string): FoundVersion {
  const problem = regexProblem(parse)
  if (problem !== undefined) return { found: false, reason: `The expression ${parse} cannot be used: ${problem}.` }
  let version: string | undefined
  try {
    version = firstGroup(parse, output.slice(0, OUTPUT_CHARS_MAX))
  } catch {
    return { found: false, reason: `The expression ${parse} did not finish within ${MATCH_MS_MAX} ms.` }
  }
  if (version === undefined || version === '')
    return { found: false, reason: `The expression ${parse} found no version in the output.` }
  if (validVersion(version, { loose: true }) === null)
    return { found: false, reason: `The text found is not a version: ${version.slice(0, 80)}.` }
  return { found: true, version, inRange: satisfies(version, range, { includePrerelease: true, loose: true }) }
}

function firstGroup(pattern: string, text: string): string | undefined {
  // Only strings go in, and only a string comes out. The separate context contains nothing else.
  const context = createContext(Object.assign(Object.create(null) as object, { pattern, text }), {
    codeGeneration: { strings: false, wasm: false },
  })
  const group: unknown = script.runInContext(context, { timeout: MATCH_MS_MAX })
  return typeof group === 'string' ? group : undefined
}

const script = new Script('(new RegExp(pattern).exec(text) ?? [])[1]')
