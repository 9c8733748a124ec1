import { readFileSync } from 'node:fs'
import { dirname, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'

const SRC = fileURLToPath(new URL('../src', import.meta.url))
const STATIC_IMPORT = /^(?:import|export)\s(?!type\b)[^'"]*?from\s'(\.[^']+)'/gm

/** Every file that is loaded with an entry, by static imports. */
function loadedWith(entry: string, seen = new Set<string>()): Set<string> {
  const path = resolve(SRC, entry)
  if (seen.has(path)) return seen
  seen.add(path)
  for (const [, target = ''] of readFileSync(path, 'utf8').matchAll(STATIC_IMPORT)) {
    loadedWith(relative(SRC, resolve(dirname(path), target.replace(/\.js$/, '.ts'))), seen)
  }
  return seen
}

const namesOf = (files: Iterable<string>): string[] => [...files].map((file) => relative(SRC, file))

test('what is checked before a spawn loads no installer', () => {
  expect(namesOf(loadedWith('launch-provisioning.ts')).filter((file) => /install|archive|fetch/.test(file))).toEqual([])
})
