import { readdirSync, readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { parseAcp, parseAgentCli, parseConfig, parseRunner, parseSandbox, parseSecrets } from '@agentproto/manifest'
import type { ManifestProblem, ParseOptions, ParseResult } from '@agentproto/manifest'
import addFormats from 'ajv-formats'

// The samples stand beside the schemas for people who write such files; each is what its name says.

const folder = new URL('../../../schemas/', import.meta.url)
const schemaNames = readdirSync(folder)
  .filter((name) => name.endsWith('.schema.json'))
  .map((name) => name.replace('.schema.json', ''))
const samples = schemaNames
  .filter((schema) => schema !== 'blocks')
  .flatMap((schema) => readdirSync(new URL(`samples/${schema}/`, folder)).map((name) => [schema, name] as const))

const PARSERS: Readonly<Record<string, (text: string, options: ParseOptions) => ParseResult<unknown>>> = {
  'agent-cli': parseAgentCli,
  acp: parseAcp,
  secrets: parseSecrets,
  sandbox: parseSandbox,
  runner: parseRunner,
  config: parseConfig,
}

const ajv = new Ajv2020({ strict: false })
addFormats.default(ajv)
for (const name of schemaNames) ajv.addSchema(JSON.parse(readFileSync(new URL(`${name}.schema.json`, folder), 'utf8')))

function problemsOf(schema: string, name: string, text: string): readonly ManifestProblem[] {
  const result = PARSERS[schema]?.(text, { path: name })
  return result === undefined ? [] : result.ok ? result.warnings : result.problems
}

test('each schema has samples, valid and invalid', () => {
  for (const schema of schemaNames.filter((name) => name !== 'blocks')) {
    const kinds = samples.filter(([of]) => of === schema).map(([, name]) => name.split('-')[0])
    expect(new Set(kinds), schema).toEqual(new Set(['valid', 'invalid']))
  }
})

const isValid = (name: string): boolean => name.startsWith('valid-')
const textOf = (schema: string, name: string): string =>
  readFileSync(new URL(`samples/${schema}/${name}`, folder), 'utf8')

test.each(samples.filter(([, name]) => name.endsWith('.json')))('%s/%s is valid or not for ajv too', (schema, name) => {
  expect(ajv.validate(`${schema}.schema.json`, JSON.parse(textOf(schema, name)))).toBe(isValid(name))
})

test.each(samples.filter(([schema]) => schema in PARSERS))(
  '%s/%s gives the result that its name says',
  (schema, name) => {
    const text = textOf(schema, name)
    const code = name.replace(/^invalid-|\.\w+$/g, '').replaceAll('-', '_')
    const place = /^Expected: (\d+):(\d+) /m.exec(text)?.slice(1).map(Number)
    const problem = { code, ...(place === undefined ? {} : { line: place[0], column: place[1] }) }
    expect(problemsOf(schema, name, text)).toMatchObject(isValid(name) ? [] : [problem])
  },
)
