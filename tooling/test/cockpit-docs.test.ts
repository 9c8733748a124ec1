import { expect, test } from 'vitest'
import { COCKPIT_KEYS } from '../../packages/cli/src/cockpit/cockpit-keys.ts'
import { page } from '../markdown.ts'
import { ROOT } from '../packages.ts'

test('14.2.1 the page about the list has every key', () => {
  const rows = COCKPIT_KEYS.map(([keys, meaning]) => `| ${keys} | ${meaning} |`).join('\n')
  expect(page(ROOT, 'docs/cockpit.md')).toContain(rows)
})
