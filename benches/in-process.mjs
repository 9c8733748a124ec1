// The registry in the same process: driver, log on disk, a follower that gets every event.
import { createGateway } from '@agentproto/runtime'
import { median, now, timeEach } from './measure.mjs'

const owner = { type: 'owner', name: 'bench' }

export async function benchInProcess({ home, cwd, starts, prompts, flood }) {
  const gateway = await createGateway({
    home,
    cwd,
    env: { ...process.env, AGENTPROTO_DEMO_HOME: cwd },
    onProblem: (problem) => console.error(problem),
  })
  const { sessions } = gateway
  const start = () => sessions.spawn({ adapter: 'demo', cwd }, owner)
  const spawns = await timeEach(starts, 1, async () => {
    const { id } = await start()
    // Ending is not what is timed, and it must not overlap the next start.
    ended.push(await sessions.kill(id, owner))
  })
  const { id } = await start()
  const trips = await timeEach(prompts, 4_000, async () => {
    const { turn } = await sessions.prompt(id, { prompt: 'x' }, owner)
    await sessions.waitTurn(id, turn)
  })
  const streamed = await streamInProcess(sessions, id, flood)
  const began = now()
  for (let i = 0; i < 20; i += 1) await sessions.list({ limit: 100 })
  await gateway.close()
  return { spawnMs: median(spawns), tripMs: median(trips), perSecond: streamed, listMs: (now() - began) / 20 }
}

const ended = []

async function streamInProcess(sessions, id, flood) {
  const { lastSeq } = await sessions.get(id)
  const reader = await sessions.follow(id, lastSeq)
  const began = now()
  await sessions.prompt(id, { prompt: `flood ${flood}` }, owner)
  const seen = await countUntilTurnEnd(reader, lastSeq + 1)
  reader.close()
  if (seen < flood) throw new Error(`${flood - seen} of ${flood} updates are missing`)
  return (seen / (now() - began)) * 1_000
}

/** Counts the updates of a turn and checks that no event is missing or repeated. */
async function countUntilTurnEnd(reader, first) {
  let next = first
  let seen = 0
  for (;;) {
    const { records } = await reader.next()
    for (const { seq, type } of records) {
      if (seq !== next) throw new Error(`event ${seq} came where ${next} was due`)
      next += 1
      if (type === 'text-delta') seen += 1
      if (type === 'turn-end') return seen
    }
  }
}
