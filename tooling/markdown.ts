import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { filesBelow } from './source-files.ts'

/** What the project's Markdown pages hold, as far as tests compare them with the code. */

export interface Page {
  /** Relative to the repository. */
  readonly path: string
  readonly text: string
}

export function pages(root: string): readonly Page[] {
  return filesBelow(root)
    .filter((path) => path.endsWith('.md'))
    .map((path) => ({ path: relative(root, path), text: readFileSync(path, 'utf8') }))
}

export const page = (root: string, path: string): string => readFileSync(join(root, path), 'utf8')

/** The rows of every table of a page whose first cell is `code`, as plain cells. */
export function codeRows(text: string): readonly (readonly string[])[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').slice(1, -1).map(plain))
}

const plain = (cell: string): string => cell.trim().replaceAll('`', '')

/** Targets of a page's links that are files: no addresses, no anchors of the page itself. */
export function fileLinks(text: string): readonly string[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.split('#')[0] ?? '')
    .filter((target) => target !== '' && !/^[a-z][a-z+.-]*:/i.test(target))
}

const withoutCode = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')
