// An upgrade while agents work: two packed command lines take over from one another, twice, with turns that run.
//   node tooling/verify-kept-upgrade.mjs EARLIER LATER     two folders of unpacked packages
// Each of them begins once, so that the keeper, which stays, is once that of the earlier and once that of the later.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { isDeepStrictEqual } from 'node:util'

const LIMIT_MS = 60_000
const LOOK_MS = 50
const KEEPER = 'agentproto-keeper.mjs'
const CHUNKS = 2_400
const ASKS = 'stream 100 5; ask first.txt one; stream 100 5; ask second.txt two; stream 20'
const STREAMS = `stream ${CHUNKS} 5`

async function main() {
  const [earlier, later] = process.argv.slice(2).map((folder) => resolve(folder))
  if (later === undefined) throw new Error('Give two folders of unpacked packages')
  await takeOver([earlier, later, earlier, later, earlier])
  await takeOver([later, earlier, later, earlier, later])
  console.log('with two agents at work, each of the two took over from the other twice, under the keeper of either')
}

/** The gateways of one home, one after the other. */
async function takeOver([first, ...others]) {
  const home = newHome()
  let gateway = await serve(first, home)
  try {
    const asking = await begin(gateway, home, ASKS)
    await gateway.call('POST', `/sessions/${asking}/prompt`, { prompt: 'and now this', whenBusy: 'queue' })
    const streaming = await begin(gateway, home, STREAMS)
    const keeper = keeperOf(home)
    if (!keeper.program.startsWith(first)) throw new Error(`the keeper is of ${keeper.program}`)
    for (const [round, next] of others.entries()) {
      const before = await lookAt(gateway, { asking, streaming })
      gateway = await replace(gateway, next, { home, round })
      const after = await lookAt(gateway, { asking, streaming })
      equal(after, before, 'what a session is')
      equal(keeperOf(home), keeper, 'the keeper and its agents')
      await advances(gateway, streaming)
      if (round === 1) await allow(gateway, asking)
    }
    await allow(gateway, asking)
    await expectWhole(gateway, home, { asking, streaming })
    await gateway.stop()
    await expectNothingLeft(home)
  } catch (error) {
    console.error(gateway.printed())
    throw error
  } finally {
    await gateway.crash()
    endKeeper(home)
    rmSync(home, { recursive: true, force: true })
  }
}

async function begin(gateway, cwd, prompt) {
  const { id } = await gateway.call('POST', '/sessions/agent', { adapter: 'demo', cwd })
  await gateway.call('POST', `/sessions/${id}/prompt`, { prompt })
  return id
}

/** What must be the same for the next gateway. */
async function lookAt(gateway, { asking, streaming }) {
  const { requestId } = await pending(gateway, asking)
  const sessions = await Promise.all([asking, streaming].map((id) => gateway.call('GET', `/sessions/${id}`)))
  return {
    requestId,
    sessions: sessions.map(({ id, status, kept, turn, queuedPrompts, agentSessionId }) => ({
      id,
      status,
      kept,
      queuedPrompts,
      agentSessionId,
      turn: [turn.number, turn.state],
    })),
  }
}

const pending = (gateway, id) =>
  until('a pending permission', async () => {
    const { requests } = await gateway.call('GET', `/sessions/${id}/requests`)
    return requests.find(({ state }) => state === 'pending')
  })

async function allow(gateway, id) {
  const { requestId, request } = await pending(gateway, id)
  const { optionId } = request.options.find(({ kind }) => kind === 'allow_once')
  await gateway.call('POST', `/sessions/${id}/requests/${requestId}`, { optionId })
}

async function advances(gateway, id) {
  const { lastSeq } = await gateway.call('GET', `/sessions/${id}`)
  await until('new events', async () => {
    const session = await gateway.call('GET', `/sessions/${id}`)
    return session.lastSeq > lastSeq || session.turn.state === 'idle'
  })
}

async function expectWhole(gateway, home, { asking, streaming }) {
  await until('the end of all turns', async () => {
    const ended = await Promise.all([asking, streaming].map((id) => endedTurns(gateway, id)))
    return isDeepStrictEqual(ended, [2, 1])
  })
  const [ofAsking, ofStreaming] = [await allEvents(gateway, asking), await allEvents(gateway, streaming)]
  for (const events of [ofAsking, ofStreaming]) {
    equal(
      events.map(({ seq }) => seq),
      events.map((_, at) => at + 1),
      'numbers of events',
    )
    equal(
      events.filter(({ type }) => ['repair', 'error', 'runtime-warning'].includes(type)),
      [],
      'problems',
    )
  }
  equal(reasons(ofAsking), ['end_turn', 'end_turn'], 'ends of turns')
  equal(reasons(ofStreaming), ['end_turn'], 'ends of turns')
  equal(ofAsking.filter(({ type }) => type === 'agent-prompt').length, 2, 'requests')
  equal(
    readFileSync(join(home, 'first.txt'), 'utf8') + readFileSync(join(home, 'second.txt'), 'utf8'),
    'one\ntwo\n',
    'files',
  )
  const { result } = await gateway.call('POST', `/sessions/${streaming}/prompt`, {
    prompt: `stream ${CHUNKS}`,
    wait: true,
  })
  equal(textOf(ofStreaming), result.text, 'text')
}

const endedTurns = async (gateway, id) =>
  (await gateway.call('GET', `/sessions/${id}/turns`)).turns.filter(({ state }) => state === 'ended').length

async function allEvents(gateway, id) {
  const all = []
  for (;;) {
    const { events } = await gateway.call('GET', `/sessions/${id}/events?after=${all.length}&limit=10000`)
    if (events.length === 0) return all
    all.push(...events)
  }
}

const reasons = (events) => events.filter(({ type }) => type === 'turn-end').map(({ reason }) => reason)
const textOf = (events) => events.map((event) => (event.type === 'text-delta' ? event.text : '')).join('')

/** The first time it is killed; the second time it is asked to leave its agents, where it can. */
async function replace(gateway, next, { home, round }) {
  await (round < 2 ? gateway.crash() : gateway.leave())
  return serve(next, home)
}

async function serve(folder, home) {
  const cli = join(folder, 'bin/agentproto.mjs')
  const child = spawn(process.execPath, [cli, 'serve', '--port', '0'], {
    cwd: home,
    env: environment(home),
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const exited = once(child, 'exit')
  let printed = ''
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (printed += text))
  const [url] = await Promise.race([once(createInterface(child.stdout), 'line'), exited])
  if (typeof url !== 'string') throw new Error(`${folder} does not serve:\n${printed}`)
  const token = readFileSync(join(home, '.agentproto/token'), 'utf8').trim()
  const end = async (signal) => {
    child.kill(signal)
    await exited
  }
  return {
    call: (method, path, body) => call(`${url}${path}`, { method, token, body }),
    printed: () => printed,
    stop: () => end('SIGTERM'),
    crash: () => end('SIGKILL'),
    leave: () => (canLeave(cli) ? leave(cli, { home, exited }) : end('SIGKILL')),
  }
}

const canLeave = (cli) => run(cli, ['stop', '--help']).stdout.includes('--keep-agents')

async function leave(cli, { home, exited }) {
  const { status, stderr } = run(cli, ['stop', '--keep-agents'], home)
  if (status !== 0) throw new Error(`stop --keep-agents failed:\n${stderr}`)
  await exited
}

const run = (cli, words, home = tmpdir()) =>
  spawnSync(process.execPath, [cli, ...words], { env: environment(home), encoding: 'utf8' })

async function call(url, { method, token, body }) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(url, { method, headers, ...(body === undefined ? {} : { body: JSON.stringify(body) }) })
  const text = await response.text()
  if (!response.ok) throw new Error(`${method} ${url}: ${response.status} ${text}`)
  return JSON.parse(text)
}

function newHome() {
  const home = mkdtempSync(join(tmpdir(), 'agentproto-upgrade-'))
  mkdirSync(join(home, '.agentproto'), { mode: 0o700 })
  const config = { keeper: true, checkpoints: { enabled: false } }
  writeFileSync(join(home, '.agentproto/config.json'), JSON.stringify(config), { mode: 0o600 })
  return home
}

const environment = (home) => ({
  ...process.env,
  HOME: home,
  AGENTPROTO_HOME: join(home, '.agentproto'),
  AGENTPROTO_DEMO_HOME: join(home, 'demo'),
})

/** The keeper and the agents end by themselves a moment after their gateway. */
const expectNothingLeft = (home) =>
  until('no process of the home', () => Promise.resolve(processesOf(home).length === 0))

function endKeeper(home) {
  for (const pid of processesOf(home)) process.kill(pid, 'SIGKILL')
}

/** Its pid, from which package it is, and the pids of its agents. */
function keeperOf(home) {
  const { stdout } = spawnSync('ps', ['-axo', 'pid=,ppid=,command='], { encoding: 'utf8' })
  const lines = stdout.split('\n').map((line) => line.trim().split(/\s+/))
  const isKeeper = ([, , , program = '', folder = '']) => program.endsWith(KEEPER) && folder.startsWith(home)
  const [keeper, ...others] = lines.filter(isKeeper)
  if (keeper === undefined || others.length > 0) throw new Error(`the home has ${1 + others.length} keepers, or none`)
  const agents = lines.filter(([, parent]) => parent === keeper[0]).map(([pid]) => pid)
  if (agents.length !== 2) throw new Error(`the keeper holds ${agents.length} agents`)
  return { pid: keeper[0], program: keeper[3], agents }
}

/** Pids of what has the home in its command line or its environment. */
function processesOf(home) {
  const found = (pid) => [`/proc/${pid}/cmdline`, `/proc/${pid}/environ`].some((file) => read(file).includes(home))
  if (existsSync('/proc/self/environ')) return pidsOf(readdirSync('/proc')).filter(found)
  const { stdout } = spawnSync('ps', ['-axo', 'pid=,command='], { encoding: 'utf8' })
  return pidsOf(
    stdout
      .split('\n')
      .filter((line) => line.includes(home))
      .map((line) => line.trim().split(' ')[0]),
  )
}

const pidsOf = (names) => names.map(Number).filter((pid) => Number.isInteger(pid) && pid > 0 && pid !== process.pid)

function read(file) {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

async function until(what, look) {
  for (let waited = 0; waited < LIMIT_MS; waited += LOOK_MS) {
    const found = await look()
    if (found) return found
    await new Promise((wake) => setTimeout(wake, LOOK_MS))
  }
  throw new Error(`${what}: not within ${LIMIT_MS / 1000} s`)
}

function equal(is, wanted, what) {
  if (!isDeepStrictEqual(is, wanted)) {
    throw new Error(`${what}:\n${JSON.stringify(is)}\nand not\n${JSON.stringify(wanted)}`)
  }
}

await main()
