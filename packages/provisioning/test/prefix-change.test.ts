import { chdir, cwd } from 'node:process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { clearLeftovers } from '../src/install/prefix-change.ts'

function agents(...names: readonly string[]): string {
  const path = realpathSync(mkdtempSync(join(tmpdir(), 'agentproto-prefix-')))
  onTestFinished(() => rmSync(path, { recursive: true, force: true }))
  for (const name of names) mkdirSync(join(path, name))
  return path
}

test('18.2 what is left of an agent is never taken for that of another whose name begins alike', async () => {
  const folder = agents('.old-gemini-cli-0123abcd', '.new-gemini-cli-0123abcd')
  await clearLeftovers(join(folder, 'gemini'))
  expect(readdirSync(folder).toSorted()).toEqual(['.new-gemini-cli-0123abcd', '.old-gemini-cli-0123abcd'])
  await clearLeftovers(join(folder, 'gemini-cli'))
  expect(readdirSync(folder)).toEqual(['gemini-cli'])
})

test('18.2 what an agent has nested too deeply for a path is removed too', async () => {
  const folder = agents('deep', '.new-deep-0123abcd')
  const here = cwd()
  chdir(join(folder, '.new-deep-0123abcd'))
  for (let depth = 0; depth < 60; depth++) {
    mkdirSync('d'.repeat(100))
    chdir('d'.repeat(100))
  }
  chdir(here)
  await clearLeftovers(join(folder, 'deep'))
  expect([readdirSync(folder), existsSync(join(folder, 'deep'))]).toEqual([['deep'], true])
})
