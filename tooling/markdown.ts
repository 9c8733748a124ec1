import { readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { filesBelow } from './source-files.ts'

/** Reads the project's Markdown pages, so that tests can compare them with the code. */

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

/** Targets of a page's links to files, without web addresses and anchors of the same page. */
export function fileLinks(text: string): readonly string[] {
  return [...withoutCode(text).matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.split('#')[0] ?? '')
    .filter((target) => target !== '' && !/^[a-z][a-z+.-]*:/i.test(target))
}

const withoutCode = (text: string): string => text.replace(/^```[\s\S]*?^```/gm, '').replace(/`[^`\n]*`/g, '')

/** Table cells with more characters than allowed: `path:line has a cell of n characters`. */
export function wideCells({ path, text }: Page, widest: number): readonly string[] {
  return text.split('\n').flatMap((line, at) => {
    const cells = line.startsWith('|') ? line.split(/(?<!\\)\|/).map((cell) => cell.trim().length) : []
    const wide = cells.filter((length) => length > widest)
    return wide.map((length) => `${path}:${at + 1} has a cell of ${length} characters`)
  })
}
