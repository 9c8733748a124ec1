import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { page } from '../markdown.ts'
import { ROOT, workspacePackages } from '../packages.ts'

const packages = workspacePackages()

test('README, AGENTS and CONTRIBUTING name the pnpm that package.json pins', () => {
  const { packageManager } = JSON.parse(page(ROOT, 'package.json')) as { packageManager: string }
  const named = ['README.md', 'AGENTS.md', 'CONTRIBUTING.md'].flatMap(
    (path) => page(ROOT, path).match(/\bpnpm@[\w.-]+/g) ?? [],
  )
  expect(new Set(named)).toEqual(new Set([packageManager]))
})

test('the two commands of the README are scripts', () => {
  const { scripts } = JSON.parse(page(ROOT, 'package.json')) as { scripts: Record<string, string> }
  const commands = [...page(ROOT, 'README.md').matchAll(/^npx -y pnpm@\S+ (\w+)$/gm)].map(([, name = '']) => name)
  expect(commands).toEqual(['demo', 'test'])
  expect(Object.keys(scripts)).toEqual(expect.arrayContaining(commands))
})

test('the README links to every package', () => {
  const text = page(ROOT, 'README.md')
  expect(packages.filter(({ folder }) => !text.includes(`(${folder})`)).map(({ name }) => name)).toEqual([])
})

// Packages that may not import what their example shows, or whose example is a shell script.
const EXAMPLE_TESTED_IN: Readonly<Record<string, string>> = {
  '@agentproto/adapter-gemini-cli': 'e2e/adapter-packages.e2e.test.ts',
  '@agentproto/adapter-pty-repl': 'e2e/adapter-packages.e2e.test.ts',
  '@agentproto/cli': 'e2e/docs-commands.e2e.test.ts',
}

test.each(packages)(
  'the README of $name has three limits, and a short example that a test runs',
  ({ folder, name }) => {
    const text = readFileSync(join(ROOT, folder, 'README.md'), 'utf8')
    expect(text.startsWith(`# ${name}\n`)).toBe(true)
    const [, limits = ''] = /must not[^\n]*\n\n((?:- .*\n(?: {2}.*\n)*)+)/i.exec(text) ?? []
    expect(limits.match(/^- /gm)).toHaveLength(3)
    const [, example = ''] = /^```(?:ts|sh)\n([\s\S]*?)^```$/m.exec(text) ?? []
    expect(example.split('\n').length - 1).toBeGreaterThan(2)
    expect(example.split('\n').length - 1).toBeLessThanOrEqual(12)
    expect(existsSync(join(ROOT, EXAMPLE_TESTED_IN[name] ?? `${folder}/test/readme.test.ts`))).toBe(true)
  },
)
