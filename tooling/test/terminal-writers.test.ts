import { expect, test } from 'vitest'
import { ROOT } from '../packages.ts'
import { sourceFiles, withoutComments } from '../source-files.ts'

// An agent must not write to a terminal: its text gets there only through `print` and `pass` of the command line's context.

const files = sourceFiles(ROOT, 'packages/cli/src').map(({ path, text }) => ({ path, code: withoutComments(text) }))
const using = (pattern: RegExp): string[] =>
  files.flatMap(({ path, code }) => (pattern.test(code) ? [path.replace('packages/cli/src/', '')] : []))

test('12.A7 only protocols and what moves the cursor use a stream itself', () => {
  expect(using(/\braw\(/)).toEqual([
    'attach/keyboard.ts',
    'attach/live-area.ts',
    'cli-context.ts',
    'commands/acp.ts',
    'commands/mcp.ts',
    'commands/sessions/export.ts',
    'patch-output.ts',
    'progress.ts',
    'requests/ring.ts',
  ])
})

test('12.A7 no other code reaches a stream of the process, or makes one writable', () => {
  expect(using(/\bconsole\.|process\.std(?:out|err)|\bstd(?:out|err)\??\.write|\/dev\/(?:tty|std|fd)/)).toEqual([
    'main.ts',
  ])
  expect(using(/\bas (?:unknown as )?(?:Writable|NodeJS\.Wri|WriteStream)|writeSync\(/)).toEqual(['cli-context.ts'])
})
