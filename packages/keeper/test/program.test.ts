import { readdirSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { REFUSALS } from '../src/program/refusal.ts'
import { expect, test } from 'vitest'

const src = fileURLToPath(new URL('../src', import.meta.url))
const files = [`${src}/agentproto-keeper.ts`, ...readdirSync(`${src}/program`).map((name) => `${src}/program/${name}`)]
const text = files.map((path) => readFileSync(path, 'utf8')).join('\n')

test('16.1 the program imports only modules of Node and its own files, and all of them at its start', () => {
  const imports = [...text.matchAll(/^(?:import|export)(?! type\b)[\w\s{},*]*? from '([^']+)'/gm)].map(
    ([, from = '']) => from,
  )
  expect(imports.filter((from) => !/^node:|^\.\.?\//.test(from))).toEqual([])
  expect(text).not.toMatch(/\bimport\(|\brequire\(/)
})

test('16.1 docs/keeper.md has the refusals of the program, and no other', () => {
  const page = readFileSync(fileURLToPath(new URL('../../../docs/keeper.md', import.meta.url)), 'utf8')
  const [, table = ''] = page.split('| refusal | when |')
  const codes = [...(table.split('\n## ')[0] ?? '').matchAll(/^\| `(\w+)` \|/gm)].map(([, code]) => code)
  expect(codes.toSorted()).toEqual([...REFUSALS].toSorted())
})
