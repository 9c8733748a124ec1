import { expect, test } from 'vitest'
import { parseAgentCli } from '@agentproto/manifest'
import { SAMPLE } from './sample.js'

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

test('every planted fault is told at its line and column', () => {
  const missed = faults.flatMap(({ name, text, line, column, codes }) => {
    const result = parseAgentCli(text, { path: 'sample/AGENT-CLI.md' })
    const problems = result.ok ? result.warnings : result.problems
    const found = problems.some(
      (problem) => problem.line === line && problem.column === column && codes.includes(problem.code),
    )
    return found
      ? []
      : [`${name} ${line}:${column}: ${problems.map((each) => `${each.code} ${each.line}:${each.column}`).join(', ')}`]
  })
  expect(missed).toEqual([])
})
