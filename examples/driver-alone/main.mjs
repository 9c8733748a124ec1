// Starts one agent from its manifest, without sessions or a server: the demo agent, or an installed one: node main.mjs opencode
import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { catalogPath } from '@agentproto/adapters'
import { demoAgentPath } from '@agentproto/demo-agent'
import { loadAgentCli } from '@agentproto/driver-agent-cli'

const DEMO = ['my number is 4711', 'recall', 'ask notes.txt 4711', 'stream 500 20']
const REAL = ['My number is 4711', 'Which is my number?', 'Write it to notes.txt', 'Count to 500']
const [slug = 'demo'] = process.argv.slice(2)
const [first, memory, tool, long] = slug === 'demo' ? DEMO : REAL
const cwd = await mkdtemp(join(tmpdir(), 'driver-alone-'))
const agent = await loadAgentCli(join(catalogPath, slug), { executables: { 'agentproto-demo-agent': demoAgentPath } })
const session = await agent.start({ cwd, onRequest: allowOnce })
try {
  for (const prompt of [first, memory, tool]) assert.equal(await turn(prompt), 'end_turn')
  assert.equal(await turn(long, 'interrupted'), 'cancelled')
} finally {
  // Resolves when the agent's whole process tree has ended.
  await session.close()
  await rm(cwd, { recursive: true, force: true })
}

async function turn(prompt, interrupted) {
  const kinds = []
  for await (const event of session.send(prompt)) {
    kinds.push(event.type === 'turn-end' ? event.reason : event.type)
    if (interrupted && event.type === 'text-delta') await session.cancel()
  }
  console.log(`${prompt}: ${kinds.filter((kind, at) => kind !== kinds[at - 1]).join(', ')}`)
  return kinds.at(-1)
}

function allowOnce({ kind, options = [] }) {
  if (kind !== 'permission') return { outcome: 'decline' }
  return { outcome: 'selected', optionId: options.find((option) => option.kind === 'allow_once').optionId }
}
