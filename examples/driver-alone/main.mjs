// Only the driver: a manifest in, a running agent out. No session store, no server.
import assert from 'node:assert/strict'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { catalogPath } from '@agentproto/adapters'
import { demoAgentPath } from '@agentproto/demo-agent'
import { loadAgentCli } from '@agentproto/driver-agent-cli'

const cwd = await mkdtemp(join(tmpdir(), 'driver-alone-'))
const demo = await loadAgentCli(join(catalogPath, 'demo'), { executables: { 'agentproto-demo-agent': demoAgentPath } })
const session = await demo.start({ cwd, onRequest: allowOnce })

try {
  for await (const event of session.send('ask notes.txt from the driver')) {
    console.log(event.type === 'text-delta' ? event.text : `· ${event.type}`)
  }
  assert.match(await readFile(join(cwd, 'notes.txt'), 'utf8'), /from the driver/)
} finally {
  // Resolves when nothing of the agent's process tree is left.
  await session.close()
  await rm(cwd, { recursive: true, force: true })
}

function allowOnce({ kind, options = [] }) {
  if (kind !== 'permission') return { outcome: 'decline' }
  return { outcome: 'selected', optionId: options.find((option) => option.kind === 'allow_once').optionId }
}
