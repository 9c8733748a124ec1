import { posix } from 'node:path'
import { importsOf } from './source-files.ts'
import type { SourceFile } from './source-files.ts'

/**
 * Files that import one another in a circle, by types and lazy imports too: none can be read, moved or tested without
 * the others. Each sentence names the files of one circle.
 */
export function circles(files: readonly SourceFile[]): readonly string[] {
  const targets = new Map(files.map((file) => [file.path, targetsOf(file)]))
  const done = new Set<string>()
  const found: string[] = []
  function visit(path: string, trail: readonly string[]): void {
    const begin = trail.indexOf(path)
    if (begin !== -1) found.push(`${[...trail.slice(begin), path].join(' → ')} is a circle`)
    if (begin !== -1 || done.has(path)) return
    for (const target of targets.get(path) ?? []) visit(target, [...trail, path])
    done.add(path)
  }
  for (const path of targets.keys()) visit(path, [])
  return found
}

/** Imports name `.js` files where the source is `.ts`. */
const targetsOf = ({ path, text }: SourceFile): readonly string[] =>
  importsOf(text)
    .filter(({ specifier }) => specifier.startsWith('.'))
    .map(({ specifier }) => posix.join(posix.dirname(path), specifier).replace(/\.js$/, '.ts'))
