import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { usageOf } from '../../packages/cli/src/attach/attach-help.ts'
import { ATTACH_KEYS } from '../../packages/cli/src/attach/attach-keys.ts'
import { OWN_COMMANDS } from '../../packages/cli/src/attach/own-commands.ts'
import { DROPPED_FACTS } from '../../packages/cli/src/attach/status-row.ts'

const page = readFileSync(new URL('../../docs/attach.md', import.meta.url), 'utf8')

/** The rows of the table under a heading, without its head. */
const rowsUnder = (heading: string): string[] =>
  (page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '')
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(1)

test('14.2.4 docs/attach.md has every key of the attach screen, as /help has it', () => {
  expect(rowsUnder('Keys')).toEqual(ATTACH_KEYS.map(({ keys, what }) => `| ${keys} | ${what} |`))
})

test('14.2.4 docs/attach.md has every command of the attach screen, as /help has it', () => {
  expect(rowsUnder('Commands')).toEqual(OWN_COMMANDS.map((each) => `| \`${usageOf(each)}\` | ${each.description} |`))
})

test('14.2.4 docs/attach.md has the order in which the status row drops facts', () => {
  expect(page).toContain(`in this order where there is no room for all: ${DROPPED_FACTS.join(', ')}.`)
})
