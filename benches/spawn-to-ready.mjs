// What the gateway adds to the start of an agent: the raw SDK client starts the same agent and opens a session.
import { createGateway } from '@agentproto/runtime'
import { median, now } from './measure.mjs'
import { ms, row } from './table.mjs'

const owner = { type: 'owner', name: 'bench' }

export async function spawnToReady({ home, cwd, starts, raw }) {
  const env = { ...process.env, AGENTPROTO_DEMO_HOME: cwd }
  const gateway = await createGateway({
    home,
    cwd,
    env,
    checkpoints: { enabled: false },
    onProblem: (problem) => console.error(problem),
  })
  const times = []
  for (let i = -1; i < starts; i += 1) {
    const began = now()
    const { id } = await gateway.sessions.spawn({ adapter: 'demo', cwd }, owner)
    if (i >= 0) times.push(now() - began)
    // The end is not measured, and must not overlap the next start.
    await gateway.sessions.kill(id, owner)
  }
  await gateway.close()
  const spawnMs = median(times)
  return [
    row('spawn → ready', spawnMs, { unit: ms, of: raw.spawnMs }),
    row('spawn → ready, added over raw', spawnMs - raw.spawnMs, { most: 15, unit: ms }),
  ]
}
