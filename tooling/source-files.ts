import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

/** The project's source files and their imports, read as text: TypeScript 7 offers no parser to other programs. */

export interface SourceFile {
  /** Relative to the repository, with forward slashes. */
  readonly path: string
  readonly text: string
}

export interface Import {
  readonly specifier: string
  readonly how: 'static' | 'dynamic' | 'type'
}

const NOT_OURS = new Set(['node_modules', 'dist', '.turbo', '.git', 'coverage'])

/** Every source file below a folder of the repository. */
export function sourceFiles(root: string, folder: string): readonly SourceFile[] {
  return filesBelow(join(root, folder))
    .filter((path) => /\.(?:ts|mts|tsx|js|mjs|cjs)$/.test(path))
    .map((path) => ({ path: path.slice(root.length + 1), text: readFileSync(path, 'utf8') }))
}

/** Absolute paths of the files below a folder, without what is generated or installed. */
export function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) return NOT_OURS.has(entry.name) ? [] : filesBelow(path)
    return entry.isFile() ? [path] : []
  })
}

/** Everything that a file imports or re-exports. */
export function importsOf(text: string): readonly Import[] {
  const code = withoutComments(text)
  const found: Import[] = []
  for (const [, word = '', specifier = ''] of code.matchAll(FROM)) {
    found.push({ specifier, how: word.includes('type') ? 'type' : 'static' })
  }
  for (const [, specifier = ''] of code.matchAll(BARE)) found.push({ specifier, how: 'static' })
  for (const [, specifier = ''] of code.matchAll(CALLED)) found.push({ specifier, how: 'dynamic' })
  return found
}

const FROM = /^\s*((?:import|export)(?:\s+type\b(?!\s*,|\s+from))?)[^'"`;()=]*?\bfrom\s*['"]([^'"]+)['"]/gm
const BARE = /^\s*import\s*['"]([^'"]+)['"]/gm
const CALLED = /\b(?:import|require|resolve)\(\s*['"]([^'"]+)['"]/g

/** The code of a file: comments blanked, line breaks kept. `//` after a colon is an address in a string. */
export function withoutComments(text: string): string {
  return text
    .replace(/\/\*[\s\S]*?\*\//g, (comment) => comment.replace(/[^\n]/g, ' '))
    .replace(/(^|[^:'"`\\])\/\/.*$/gm, '$1')
}
