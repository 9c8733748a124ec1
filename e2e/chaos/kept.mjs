// Kills and restarts the gateway at random moments while its agents stream, ask and run tools, and checks that the agents and their
// sessions go on as if nothing had happened: the same processes, each turn with the content that it has without a kill,
// each request answered to an agent that waited, each event once and in order, and no process left at the end.
//
//   node e2e/chaos/kept.mjs --kills 300 --agents 20 [--minutes 30] [--seed 1]
//
// The last line is `kept: 300 ends (60 in the boot, 40 restarts), 20 agents, 1234 turns, 300 requests, 123456 events, 0 repairs, 0 faults`;
// the exit code is 1 when there are faults.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { crashAtBoot, freePort, startDaemon } from './daemon.mjs'
import { checkKeptLog } from './kept-check.mjs'
import { followSession } from './follower.mjs'
import { KeptUser } from './kept-user.mjs'
import { killSessions } from './kept-killer.mjs'
import { agentPids, markedProcesses } from './processes.mjs'
import { calmTurns } from './prompts.mjs'
import { seededRandom } from './random.mjs'
import { answerRequests } from './responder.mjs'

const { values } = parseArgs({
  options: {
    kills: { type: 'string', default: '300' },
    agents: { type: 'string', default: '20' },
    minutes: { type: 'string', default: '30' },
    seed: { type: 'string', default: String(Date.now() % 100_000) },
    /** Prints what the gateways print. */
    verbose: { type: 'boolean', default: false },
    /** Leaves the folder, to look into the logs. */
    keep: { type: 'boolean', default: false },
  },
})
const kills = Number(values.kills)
const agentCount = Number(values.agents)
const until = Date.now() + Number(values.minutes) * 60_000
const random = seededRandom(Number(values.seed))

/** Of the ends of a gateway, the part that comes while it starts and adopts. */
const BOOT_KILLS = 0.3
/** Of the others, the part that are restarts in place; as many are ends that leave the agents. */
const RESTARTS = 0.15
/** One user in this many has an agent that delegates. */
const DELEGATES = 7

const root = mkdtempSync(join(tmpdir(), 'agentproto-kept-'))
mkdirSync(join(root, 'home'), { mode: 0o700 })
writeFileSync(join(root, 'home', 'config.json'), JSON.stringify({ keeper: true }))
const faults = []
const fault = (what) => {
  faults.push(what)
  console.error(`after kill ${done}: ${what}`)
}
const problems = []
const counts = { inBoot: 0, restarts: 0, events: 0, turns: 0, repairs: 0 }
let done = 0
let bootMs = 1_000
const port = await freePort()
const options = {
  port,
  onPrinted: values.verbose ? (text) => process.stderr.write(text) : (text) => problems.push(text),
}

let daemon = await startDaemon(root, options)
try {
  const current = () => daemon
  const calm = await calmTurns(daemon, root)
  const users = []
  for (let i = 0; i < agentCount; i += 1)
    users.push(
      await KeptUser.start({ current, root, name: `agent-${i}`, random, fault, delegates: i % DELEGATES === 1 }),
    )
  const followers = users.map(({ id }) => followSession(id, current))
  const pids = new Map(users.map(({ id }) => [id, agentPids(root, id)]))
  const working = users.map((user) => user.work())
  const responder = answerRequests(current, fault)
  const killer = killSessions({ current, root, random, fault })

  while (done < kills && Date.now() < until) {
    await pause(random() * 2_000)
    const how = random()
    done += 1
    if (how < RESTARTS) {
      counts.restarts += 1
      await daemon.restart()
    } else {
      await (how < 2 * RESTARTS ? daemon.leave() : daemon.crash())
      await endInBoots()
      const began = Date.now()
      daemon = await startDaemon(root, options)
      bootMs = Date.now() - began
    }
    for (const { id } of users) await checkAgent(daemon, id, pids)
    if (done % 10 === 0) console.error(`${done} kills, ${faults.length} faults, boot in ${bootMs} ms`)
  }

  for (const user of users) user.finish()
  await Promise.all([...working, killer.stop()])
  const answered = await responder.stop()
  for (const { id } of users) await checkAgent(daemon, id, pids)
  for (const [index, user] of users.entries()) {
    await user.checkModel()
    await daemon.call('POST', `/sessions/${user.id}/kill`, {})
    const checked = await checkKeptLog(daemon, { user, follower: followers[index], calm, answered }, fault)
    counts.events += checked.events
    counts.turns += checked.turns
    counts.repairs += checked.repairs
  }
  await daemon.stop()
  await untilNoneIsLeft()
  console.error(problems.join('').slice(-4_000))
  console.log(
    `kept: ${done} ends (${counts.inBoot} in the boot, ${counts.restarts} restarts), ${agentCount} agents, ${counts.turns} turns, ` +
      `${answered.size} requests, ${counts.events} events, ${counts.repairs} repairs, ${faults.length} faults (seed ${values.seed})`,
  )
  process.exitCode = faults.length === 0 ? 0 : 1
} catch (error) {
  console.error(problems.join('').slice(-4_000))
  await daemon.stop()
  throw error
} finally {
  if (!values.keep) rmSync(root, { recursive: true, force: true })
  else console.error(root)
}

/** Starts gateways that are ended while they start, none or several in a row. */
async function endInBoots() {
  while (done < kills && random() < BOOT_KILLS) {
    const signal = random() < 0.8 ? 'SIGKILL' : 'SIGQUIT'
    await crashAtBoot(root, random() * bootMs * 1.2, { port, signal })
    done += 1
    counts.inBoot += 1
  }
}

/** A session is still running, and its agent is the process with which it began. */
async function checkAgent(gateway, id, pids) {
  const { status, kept } = await gateway.call('GET', `/sessions/${id}`)
  if (status !== 'running' || kept !== true) fault(`${id} is ${status}${kept === true ? '' : ' and not kept'}`)
  const now = agentPids(root, id)
  const gone = pids.get(id).filter((pid) => !now.includes(pid))
  if (gone.length > 0) fault(`${id} has the processes ${now.join()} in place of ${gone.join()}`)
}

/** A keeper that holds nothing ends within a second of its gateway. */
async function untilNoneIsLeft() {
  const end = Date.now() + 5_000
  while (markedProcesses(root).length > 0 && Date.now() < end) await pause(50)
  const left = markedProcesses(root)
  if (left.length > 0) fault(`at the end: processes ${left.join(', ')} are left`)
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
