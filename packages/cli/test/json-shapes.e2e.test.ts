import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { cli, folder, serve } from './cli-process.js'

// docs/cli.md lists the members of each --json document. Its rows are run in order.

const page = readFileSync(new URL('../../../docs/cli.md', import.meta.url), 'utf8')
const rows = [...page.matchAll(/^\| `(.+ --json)` \| `(.+)` \|$/gm)].map(([, command = '', members = '']) => ({
  args: command.split(' '),
  members: members.split(' '),
}))

test('each --json document has the members that docs/cli.md lists', async () => {
  const home = folder()
  await serve(home)
  await cli(['sessions', 'start', 'demo', '--label', 'try', '--cwd', folder('work')], { home })
  expect(rows.length).toBeGreaterThan(20)
  for (const { args, members } of rows) {
    const { code, stdout, stderr } = await cli(args, { home })
    expect({ args, code, stderr }).toEqual({ args, code: 0, stderr: expect.any(String) })
    const document = JSON.parse(stdout) as object
    const missing = members.filter((member) => !(member in document))
    expect({ args, missing }).toEqual({ args, missing: [] })
  }
}, 300_000)
