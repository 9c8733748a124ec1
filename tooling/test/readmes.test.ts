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

test('every package README says what it is and what it must not do, and has an example', () => {
  const wanting = packages.filter(({ folder, name }) => {
    const path = join(ROOT, folder, 'README.md')
    const text = existsSync(path) ? readFileSync(path, 'utf8') : ''
    return !(text.startsWith(`# ${name}\n`) && /must not/i.test(text) && text.includes('```'))
  })
  expect(wanting.map(({ name }) => name)).toEqual([])
})
