// Kills the gateway at random moments while sessions stream, and checks after each restart that no event that a
// reader has seen is lost, repeated or out of order, that no process is left, and that every status is true.
//
//   node e2e/chaos/main.mjs --kills 200 --sessions 20 [--minutes 30] [--seed 1]
//
// The last line is `chaos: 200 kills, 20 sessions, 1234567 events, 0 faults`; the exit code is 1 when there are faults.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { crashAtBoot, startDaemon } from './daemon.mjs'
import { checkSession } from './session-check.mjs'
import { followSession } from './follower.mjs'
import { markedProcesses } from './processes.mjs'
import { seededRandom } from './random.mjs'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '200' },
    sessions: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
  },
})
const kills = Number(values.kills)
const sessionCount = Number(values.sessions)
const until = Date.now() + Number(values.minutes) * 60_000
const random = seededRandom(Number(values.seed))

const root = mkdtempSync(join(tmpdir(), 'agentproto-chaos-'))
// Here the agents end with their gateway.
mkdirSync(join(root, 'home'), { mode: 0o700 })
writeFileSync(join(root, 'home', 'config.json'), JSON.stringify({ keeper: false }))
const faults = []
let done = 0

/** Prompts of the turns. Each is interrupted in a different state. */
const PROMPTS = [
  'stream 100000 1',
  'flood 30000',
  'think; stream 50000 2',
  'write a.txt; stream 100000 1',
  'ask',
  'hang',
  'fork; stream 100000 1',
]
/** One kill in this many comes while the gateway is still starting. */
const BOOT_KILLS = 5

try {
  let daemon = await startDaemon(root)
  const followers = []
  for (let i = 0; i < sessionCount; i += 1) {
    const { id } = await daemon.call('POST', '/sessions/agent', { adapter: 'demo', cwd: root })
    followers.push(followSession(id, () => daemon))
  }
  while (done < kills && Date.now() < until) {
    // The kill does not wait: sessions are being resumed, prompts are being admitted, turns stream.
    const prompting = Promise.allSettled(followers.map(({ id }) => prompt(daemon, id)))
    await pause(50 + random() * 5_000)
    await daemon.crash()
    done += 1
    faults.push(...refusals(await prompting))
    if (done % BOOT_KILLS === 0 && done < kills) {
      await crashAtBoot(root, random() * 500)
      done += 1
    }
    daemon = await startDaemon(root)
    const left = markedProcesses(root, daemon.pid)
    if (left.length > 0) faults.push(`after kill ${done}: processes ${left.join(', ')} are left`)
    for (const { id } of followers) checkStatus(await daemon.call('GET', `/sessions/${id}`))
    if (done % 20 === 0) console.error(`${done} kills, ${faults.length} faults`)
  }
  let events = 0
  for (const follower of followers) {
    await daemon.call('POST', `/sessions/${follower.id}/kill`, {}).catch(() => undefined)
    events += await checkSession(daemon, follower, (fault) => faults.push(fault))
  }
  await daemon.stop()
  const left = markedProcesses(root)
  if (left.length > 0) faults.push(`at the end: processes ${left.join(', ')} are left`)
  for (const fault of faults.slice(0, 20)) console.error(fault)
  console.log(
    `chaos: ${done} kills, ${sessionCount} sessions, ${events} events, ${faults.length} faults (seed ${values.seed})`,
  )
  process.exitCode = faults.length === 0 ? 0 : 1
} finally {
  rmSync(root, { recursive: true, force: true })
}

/** No session has the status of a live one, and its stop reason is true: its run or its start was cut. */
function checkStatus({ id, status, stopReason, failure }) {
  if (status === 'running' || status === 'starting') faults.push(`${id} is said to be ${status}`)
  const isCutStart = failure?.kind === 'startup_failure'
  if (status === 'error' && stopReason !== 'agent_crashed' && !isCutStart)
    faults.push(`${id} stopped for ${stopReason}`)
}

/** The next turn of a session; it resumes an ended one. */
async function prompt(daemon, id) {
  const text = PROMPTS[Math.floor(random() * PROMPTS.length)]
  try {
    await daemon.call('POST', `/sessions/${id}/prompt`, { prompt: text })
  } catch (error) {
    // The killed agent may not have stored the conversation: start a new one.
    if (error.code !== 'not_resumable' && error.code !== 'session_ended') throw error
    await daemon.call('POST', `/sessions/${id}/resume`, { fresh: true })
    await daemon.call('POST', `/sessions/${id}/prompt`, { prompt: text })
  }
}

/** An error response. A request whose gateway was killed has no response. */
function refusals(outcomes) {
  return outcomes.flatMap(({ reason }) => (reason === undefined || reason instanceof TypeError ? [] : [String(reason)]))
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
