import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { finished } from './support/finished-process.js'
import { startGateway } from './support/gateway.js'
import { temporaryFolder } from './support/temporary-folder.js'

// Each ```js block of docs/acp.md is a whole program, with nothing but the SDK of ACP and `ws`.

const PAGE = readFileSync(new URL('../docs/acp.md', import.meta.url), 'utf8')
const PROGRAMS = [...PAGE.matchAll(/^## (.+)$(?:(?!^## )[\s\S])*?^```js\n([\s\S]*?)^```$/gm)].map(
  ([, title = '', text = '']) => ({ title, text }),
)

const PRINTED = {
  'Over HTTP': 'echo: hello\nend_turn\nI was allowed to write notes.txt.\nend_turn\n',
  'Over WebSocket, with a connection that is cut': 'The connection was cut\nend_turn 300\n',
}

test('the programs of docs/acp.md run, and print what it says', async () => {
  expect(PROGRAMS.map(({ title }) => title)).toEqual(Object.keys(PRINTED))
  const gateway = await startGateway()
  const folder = temporaryFolder('acp-guide')
  for (const name of ['@agentclientprotocol/sdk', 'ws']) {
    const link = join(folder, 'node_modules', name)
    mkdirSync(dirname(link), { recursive: true })
    symlinkSync(fileURLToPath(new URL(`node_modules/${name}`, import.meta.url)), link)
  }
  const env = { ...process.env, AGENTPROTO_URL: gateway.url, AGENTPROTO_TOKEN: gateway.token }
  for (const [index, { text }] of PROGRAMS.entries()) {
    writeFileSync(join(folder, `program-${index}.mjs`), text)
    const { code, stdout, stderr } = await finished([`program-${index}.mjs`], { cwd: folder, env })
    expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: Object.values(PRINTED)[index], stderr: '' })
  }
})
