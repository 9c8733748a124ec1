// What recording its folder costs a session: its start, and a prompt that comes at once after a turn and so waits for the
// checkpoint. The other benches of prompts record nothing, so that they measure the gateway and not git.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createGateway } from '@agentproto/runtime'
import { median, now } from './measure.mjs'
import { ms, row } from './table.mjs'

const owner = { type: 'owner', name: 'bench' }
const FILES = 1_000
const STARTS = 3
const PROMPTS = 15

export async function checkpointedTurns({ home }) {
  const cwd = join(home, 'folder')
  for (let i = 0; i < FILES; i += 1) {
    const folder = join(cwd, `part-${i % 20}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${i}.txt`), `file ${i}\n`.repeat(50))
  }
  const without = await measure(cwd, { home: join(home, 'without'), enabled: false })
  const recorded = await measure(cwd, { home: join(home, 'recorded'), enabled: true })
  return [
    row(`spawn → ready in ${FILES} files, recorded`, recorded.spawnMs, { unit: ms, of: without.spawnMs }),
    row(`prompt at once after a turn in ${FILES} files`, without.promptMs, { unit: ms }),
    row('the same, recorded', recorded.promptMs, { unit: ms, of: without.promptMs }),
  ]
}

async function measure(cwd, { home, enabled }) {
  const env = { ...process.env, AGENTPROTO_DEMO_HOME: cwd }
  const gateway = await createGateway({ home, cwd, env, checkpoints: { enabled } })
  const { sessions } = gateway
  const spawns = []
  const prompts = []
  for (let i = 0; i < STARTS; i += 1) {
    const began = now()
    const { id } = await sessions.spawn({ adapter: 'demo', cwd }, owner)
    spawns.push(now() - began)
    for (let n = 0; n < PROMPTS; n += 1) {
      const sent = now()
      const { turn } = await sessions.prompt(id, { prompt: 'x' }, owner)
      await sessions.waitTurn(id, turn)
      if (n > 0) prompts.push(now() - sent)
    }
    await sessions.kill(id, owner)
  }
  await gateway.close()
  return { spawnMs: median(spawns), promptMs: median(prompts) }
}
