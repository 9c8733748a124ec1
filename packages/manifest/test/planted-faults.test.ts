import { expect, test } from 'vitest'
import { parseAgentCli } from '@agentproto/manifest'
import type { ManifestProblem } from '@agentproto/manifest'
import { checkManifestFiles } from '@agentproto/manifest/node'
import { stringify } from 'yaml'
import { DOCUMENTS } from './documents.js'
import { SAMPLE } from './sample.js'
import { tempFolder } from './temp-folder.js'

// Each line of the sample is broken in every way that makes sense for it, one at a time.

interface Fault {
  readonly name: string
  readonly text: string
  readonly line: number
  readonly column: number
  readonly codes: readonly string[]
}

const lines = SAMPLE.split('\n')
const end = lines.indexOf('---', 1)

/** Keys below these are the author's own, so that no name of theirs is a fault. */
const OPEN = ['env', 'set', 'metadata', 'agentproto']
const isBelowOpen = (index: number): boolean => {
  let indent = indentOf(index)
  for (let at = index - 1; at > 0; at--) {
    if (indentOf(at) >= indent || lines[at]?.trimStart().startsWith('- ')) continue
    indent = indentOf(at)
    if (OPEN.includes(lines[at]?.trim().replace(':', '') ?? '')) return true
  }
  return false
}
const indentOf = (index: number): number => (lines[index] ?? '').search(/\S/)

const replaced = (index: number, ...by: readonly string[]): string => lines.toSpliced(index, 1, ...by).join('\n')

function faultsOf(index: number): readonly Fault[] {
  const line = lines[index] ?? ''
  const match = /^(\s*(?:- )?)([\w]+):(?: (.*))?$/.exec(line)
  if (match === null) return []
  const [, lead = '', key = '', value] = match
  const below = isBelowOpen(index)
  const at = { line: index + 1, column: lead.length + 1 }
  const faults: Fault[] = []
  if (!below) {
    faults.push({
      name: `${key} misspelt`,
      text: replaced(index, line.replace(key, `${key}x`)),
      ...at,
      codes: ['key_unknown'],
    })
  }
  if (value === undefined) return faults
  const valueAt = { line: index + 1, column: lead.length + key.length + 3 }
  const inner = lead.replace('- ', '  ')
  faults.push({
    name: `${key} twice`,
    text: replaced(index, line, `${inner}${key}: ${value}`),
    line: index + 2,
    column: at.column,
    codes: ['key_duplicate'],
  })
  faults.push({
    name: `${key} tagged`,
    text: replaced(index, `${lead}${key}: !odd ${value}`),
    ...valueAt,
    codes: ['yaml_tag'],
  })
  faults.push({
    name: `${key} aliased`,
    text: replaced(index, `${lead}${key}: *nothing`),
    ...valueAt,
    codes: ['yaml_alias'],
  })
  // The choices of a prompt may be a mapping, and metadata may hold anything.
  if (key !== 'verified' && key !== 'options') {
    faults.push({
      name: `${key} a mapping`,
      text: replaced(index, `${lead}${key}: { odd: { odd: 1 } }`),
      ...valueAt,
      codes: ['type_mismatch', 'value_unknown', 'protocol_unsupported'],
    })
  }
  return faults
}

const faults = lines.slice(1, end).flatMap((_, index) => faultsOf(index + 1))

test('more than two hundred faults are planted', () => {
  expect(faults.length).toBeGreaterThan(200)
})

/** What was reported instead, when the fault was not reported at its place. */
function missed({ name, line, column, codes }: Fault, problems: readonly ManifestProblem[]): readonly string[] {
  const found = problems.some((each) => each.line === line && each.column === column && codes.includes(each.code))
  const reported = problems.map((each) => `${each.code} ${each.line}:${each.column}`).join(', ')
  return found ? [] : [`${name} ${line}:${column}: ${reported}`]
}

test('every planted fault is reported at its line and column', () => {
  const all = faults.flatMap((fault) => {
    const result = parseAgentCli(fault.text, { path: 'sample/AGENT-CLI.md' })
    return missed(fault, result.ok ? result.warnings : result.problems)
  })
  expect(all).toEqual([])
})

test('a folder of mutated manifests is reported file by file', { timeout: 180_000 }, async () => {
  const nameOf = (index: number): string => `${String(index).padStart(4, '0')}.AGENT-CLI.md`
  const root = await tempFolder({
    ...Object.fromEntries(faults.map(({ text }, index) => [nameOf(index), text])),
    'ACP.md': `---\n${stringify(DOCUMENTS.acp)}---\n`,
  })
  const checked = await checkManifestFiles([root])
  expect(checked.map(({ path }) => path.slice(root.length + 1))).toEqual(
    // The ACP.md is read with the manifests that refer to it, though each of them has an error.
    faults.map((_, index) => nameOf(index)),
  )
  expect(faults.flatMap((fault, index) => missed(fault, checked[index]?.problems ?? []))).toEqual([])
})
