import { expect, test } from 'vitest'
import { ALL_BUT_CLI, ARROWS } from '../arrows.ts'
import type { Arrows } from '../arrows.ts'
import { circles } from '../circles.ts'
import { emptyNames, importArrows, manifestArrows, MAX_LINES, prints, tooLong, wholeZod } from '../house-rules.ts'
import { codeRows, page } from '../markdown.ts'
import { ROOT, workspacePackages } from '../packages.ts'
import { sourceFiles } from '../source-files.ts'

const packages = workspacePackages()
const own = packages.map((pkg) => ({ pkg, files: sourceFiles(ROOT, `${pkg.folder}/src`) }))
const outside = ['tooling', 'examples', 'benches', 'e2e'].flatMap((folder) => sourceFiles(ROOT, folder))
const isTest = (path: string): boolean => path.includes('/test/') || path.includes('.test.')

test('the table has every package of the workspace, and no other', () => {
  expect(packages.map(({ name }) => name.replace('@agentproto/', '')).toSorted()).toEqual(
    Object.keys(ARROWS).toSorted(),
  )
})

test('every dependency in a package.json is in the table', () => {
  expect(packages.flatMap(manifestArrows)).toEqual([])
})

test('every import between packages is in the table', () => {
  expect(own.flatMap(({ pkg, files }) => files.flatMap((file) => importArrows(file, pkg)))).toEqual([])
})

test('docs/architecture.md has the same table', () => {
  const cell = ({ may, lazily = [] }: Arrows): string =>
    [...(may === ALL_BUT_CLI ? ['all but cli'] : may), ...lazily.map((name) => `${name} (lazily)`)].join(', ') || '–'
  const rows = codeRows(page(ROOT, 'docs/architecture.md')).map(([name = '', , imports]) => [
    name.split(' ')[0],
    imports,
  ])
  expect(Object.fromEntries(rows)).toEqual(
    Object.fromEntries(Object.entries(ARROWS).map(([name, arrows]) => [name, cell(arrows)])),
  )
})

test('the table has no cycle', () => {
  const arrowsOf = ({ may, lazily = [], inTests = [] }: Arrows): readonly string[] => [...may, ...lazily, ...inTests]
  const reach = (from: string, seen: readonly string[]): readonly string[] =>
    arrowsOf(ARROWS[from] ?? { may: [] }).flatMap((to) =>
      seen.includes(to) ? [[...seen, to].join(' → ')] : reach(to, [...seen, to]),
    )
  expect(Object.keys(ARROWS).flatMap((name) => reach(name, [name]))).toEqual([])
})

test('no files import one another in a circle', () => {
  expect([...own.map(({ files }) => files), outside].flatMap(circles)).toEqual([])
})

test('no file has a name that says nothing', () => {
  expect([...own.flatMap(({ files }) => files), ...outside].flatMap(emptyNames)).toEqual([])
})

test('no source file is too long', () => {
  const files = [...own.flatMap((each) => each.files), ...outside.filter(({ path }) => !isTest(path))]
  expect(files.flatMap(tooLong)).toEqual([])
})

test('no library writes to the console', () => {
  expect(own.flatMap(({ pkg, files }) => files.flatMap((file) => prints(file, pkg)))).toEqual([])
})

test('no library imports all of zod', () => {
  expect(own.flatMap(({ files }) => files.flatMap(wholeZod))).toEqual([])
})

// Each rule is given something that it must refuse, so that a rule which finds nothing is noticed.

const registry = {
  folder: 'packages/session-registry',
  name: '@agentproto/session-registry',
  dependencies: [],
  devDependencies: [],
}
const source = (text: string, path = 'packages/session-registry/src/registry.ts') => ({ path, text })
const refused = (text: string): readonly string[] => importArrows(source(text), registry)

test('a forbidden dependency in a package.json is reported', () => {
  expect(manifestArrows({ ...registry, dependencies: ['@agentproto/driver-agent-cli'] })).toEqual([
    '@agentproto/session-registry may not depend on @agentproto/driver-agent-cli',
  ])
  expect(manifestArrows({ ...registry, devDependencies: ['@agentproto/runtime'] })).toHaveLength(1)
  expect(manifestArrows({ ...registry, name: '@agentproto/new' })).toHaveLength(1)
  expect(manifestArrows({ ...registry, dependencies: ['zod'], devDependencies: ['@agentproto/demo-agent'] })).toEqual(
    [],
  )
})

test.each([
  "import { a } from '@agentproto/driver-agent-cli'",
  "import type { A } from '@agentproto/driver-agent-cli'",
  "import {\n  a,\n  type B,\n} from '@agentproto/driver-agent-cli'",
  "import a, { b } from '@agentproto/driver-agent-cli'",
  "import * as a from '@agentproto/driver-agent-cli/node'",
  "import '@agentproto/driver-agent-cli'",
  "export { a } from '@agentproto/driver-agent-cli'",
  "export * from '@agentproto/driver-agent-cli'",
  "const a = await import('@agentproto/driver-agent-cli')",
  "type A = import('@agentproto/driver-agent-cli').A",
  "const a = createRequire(import.meta.url)('x'); require('@agentproto/driver-agent-cli')",
  "import { a } from '@agentproto/contracts/src/errors.js'",
  "import { a } from '../../manifest/src/index.js'",
])('a forbidden import is reported: %s', (text) => {
  expect(refused(text)).toHaveLength(1)
})

test.each([
  "import { a } from '@agentproto/contracts'",
  "import { a } from './registry.js'\nimport type { B } from '../src/b.js'\nimport z from 'zod'",
  "// import { a } from '@agentproto/driver-agent-cli'",
  "/** @example\n * import { a } from '@agentproto/driver-agent-cli'\n */",
])('an allowed import is not reported: %s', (text) => {
  expect(refused(text)).toEqual([])
})

test('the command line may import the runtime lazily and as types only', () => {
  const cli = { ...registry, folder: 'packages/cli', name: '@agentproto/cli' }
  const refusedOfCli = (text: string) => importArrows(source(text, 'packages/cli/src/serve.ts'), cli)
  expect(refusedOfCli("import { createGateway } from '@agentproto/runtime'")).toHaveLength(1)
  expect(refusedOfCli("const { createGateway } = await import('@agentproto/runtime')")).toEqual([])
  expect(refusedOfCli("import type { Gateway } from '@agentproto/runtime'")).toEqual([])
})

test('an empty name, a long file and a library that prints are reported', () => {
  expect(emptyNames(source('', 'packages/client/src/utils.ts'))).toHaveLength(1)
  expect(emptyNames(source('', 'packages/client/src/helpers/feed.ts'))).toHaveLength(1)
  expect(emptyNames(source('', 'packages/client/src/shared-feed.ts'))).toEqual([])
  expect(tooLong(source('line\n'.repeat(MAX_LINES + 1)))).toHaveLength(1)
  expect(tooLong(source('line\n'.repeat(MAX_LINES)))).toEqual([])
  expect(prints(source('console.log(1)'), registry)).toHaveLength(1)
  expect(prints(source('// console.log(1)'), registry)).toEqual([])
  expect(prints(source('console.log(1)'), { ...registry, name: '@agentproto/cli' })).toEqual([])
})

test('an import of all of zod is reported', () => {
  expect(wholeZod(source("import { z } from 'zod'"))).toHaveLength(1)
  expect(wholeZod(source("import z from 'zod'"))).toHaveLength(1)
  expect(wholeZod(source("import * as z from 'zod'"))).toEqual([])
  expect(wholeZod(source("import type { z } from 'zod'"))).toEqual([])
})

test('a circle of types and lazy imports is reported, once', () => {
  const files = [
    { path: 'a/turn.ts', text: `import type { Log } from './log.js'` },
    { path: 'a/log.ts', text: `const read = () => import('./reader/page.js')` },
    { path: 'a/reader/page.ts', text: `import { turn } from '../turn.js'` },
    { path: 'a/index.ts', text: `export { turn } from './turn.js'` },
  ]
  expect(circles(files)).toEqual(['a/turn.ts → a/log.ts → a/reader/page.ts → a/turn.ts is a circle'])
})
