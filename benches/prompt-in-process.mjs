// A prompt and its whole turn through the services of an embedded gateway, without flags, the log on disk.
import { createGateway } from '@agentproto/runtime'
import { median, now, timeEach } from './measure.mjs'
import { k, ms, row } from './table.mjs'

const owner = { type: 'owner', name: 'bench' }

export async function promptInProcess({ home, cwd, prompts, warmUp, flood, raw }) {
  const env = { ...process.env, AGENTPROTO_DEMO_HOME: cwd }
  const gateway = await createGateway({
    home,
    cwd,
    env,
    checkpoints: { enabled: false },
    onProblem: (problem) => console.error(problem),
  })
  const { sessions } = gateway
  const { id } = await sessions.spawn({ adapter: 'demo', cwd }, owner)
  const trips = await timeEach(prompts, warmUp, async () => {
    const { turn } = await sessions.prompt(id, { prompt: 'x' }, owner)
    await sessions.waitTurn(id, turn)
  })
  const perSecond = await streamInProcess(sessions, id, flood)
  await gateway.close()
  return [
    row('prompt in process, embedder without flags, warm, p50', median(trips), {
      most: 0.15,
      unit: ms,
      of: raw.tripMs,
    }),
    row('streaming in process, logged, followed', perSecond, { least: 120_000, unit: k, of: raw.perSecond }),
  ]
}

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

/**
 * Counts the updates of a turn, one line of text each, and checks that no event is missing or repeated. Text that may be the
 * start of a secret is emitted with the update after it, so there are a few events less.
 */
async function countUntilTurnEnd(reader, first) {
  let next = first
  let seen = 0
  for (;;) {
    const { records } = await reader.next()
    for (const { seq, type, json } of records) {
      if (seq !== next) throw new Error(`event ${seq} came where ${next} was due`)
      next += 1
      if (type === 'text-delta') seen += linesIn(json)
      if (type === 'turn-end') return seen
    }
  }
}

function linesIn(json) {
  let lines = 0
  for (let at = json.indexOf('\\n'); at >= 0; at = json.indexOf('\\n', at + 2)) lines += 1
  return lines
}
