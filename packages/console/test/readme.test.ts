import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { consoleFolder } from '@agentproto/console'
import { expect, test } from 'vitest'

test('the folder of the console has its page, once it is built', () => {
  expect(consoleFolder).toMatch(/console[/\\]app$/)
  expect(existsSync(join(consoleFolder, 'index.html'))).toBe(existsSync(consoleFolder))
})
