// ACP over the network: a prompt over a WebSocket beside HTTP, updates to one client beside a bare WebSocket, a client that
// does not read beside one that does, and many that do nothing.
import { acpOverSocket, acpOverStdio, acpOverStreams, openSession } from './acp-clients.mjs'
import { bareFrames } from './bare-socket.mjs'
import { allByTurns } from './by-turns.mjs'
import { lineCounter } from './follow-flood.mjs'
import { startDaemon, startSession } from './gateway.mjs'
import { median, now, peakRss, rss } from './measure.mjs'
import { k, mb, ms, row } from './table.mjs'

/** Clients that are connected and do nothing. */
const IDLE = 100
/** Turns of each wire that are streamed, by turns. */
const ROUNDS = 3

export async function acpNetwork({ home, cwd, prompts, warmUp, flood }) {
  const daemon = await startDaemon(home, cwd)
  try {
    const idle = await besideIdle(daemon)
    const wires = {
      socket: await acpOverSocket(daemon.http),
      streams: await acpOverStreams(daemon.http),
      stdio: await acpOverStdio(daemon, cwd),
    }
    const rows = [
      ...idle,
      ...(await promptsBy(daemon, wires, { cwd, prompts, warmUp })),
      ...(await updatesBy(wires, { cwd, flood })),
      ...(await besideSlow(daemon, wires.socket, { cwd, flood })),
    ]
    await Promise.all(Object.values(wires).map((client) => client.close()))
    return rows
  } finally {
    await daemon.stop()
  }
}

async function besideIdle({ http, pid }) {
  const before = rss(pid)
  const clients = await Promise.all(Array.from({ length: IDLE }, () => acpOverSocket(http)))
  const beyond = rss(pid) - before
  await Promise.all(clients.map((client) => client.close()))
  return [row(`memory, ${IDLE} idle ACP clients, beyond none`, beyond, { most: 40, unit: mb })]
}

async function promptsBy({ http }, { socket, streams, stdio }, { cwd, prompts, warmUp }) {
  const path = `/sessions/${await startSession(http, cwd)}/prompt`
  const [bySocket, byStreams, byStdio] = [
    await openSession(socket, cwd),
    await openSession(streams, cwd),
    await openSession(stdio, cwd),
  ]
  const ways = [
    () => http.call('POST', path, { prompt: 'x', wait: true }),
    () => bySocket.prompt('x'),
    () => byStreams.prompt('x'),
    () => byStdio.prompt('x'),
  ]
  const [api, ...acp] = (await allByTurns(ways, { prompts, warmUp })).ms
  return [
    row('prompt over HTTP beside ACP, warm, p50', api, { unit: ms }),
    row('  over a WebSocket of ACP, beyond that', acp[0] - api, { most: 0.1, unit: ms }),
    row('  over streamable HTTP of ACP, beyond that', acp[1] - api, { unit: ms }),
    row('  over the pipes of `agentproto acp`, beyond that', acp[2] - api, { unit: ms }),
  ]
}

async function updatesBy(wires, { cwd, flood }) {
  const rates = { socket: [], streams: [], stdio: [], bare: [] }
  const sessions = {}
  for (const name of Object.keys(wires)) sessions[name] = await openSession(wires[name], cwd)
  let frame
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const name of Object.keys(wires)) {
      const streamed = await streamOnce(wires[name], sessions[name], flood)
      rates[name].push(streamed.perSecond)
      if (name === 'socket') ({ frame } = streamed)
    }
    rates.bare.push(await bareFrames(frame, flood))
  }
  const bare = median(rates.bare)
  return [
    row('frames of a bare WebSocket server, no agent, no log', bare, { unit: k }),
    row('updates to a WebSocket client of ACP, logged', median(rates.socket), { least: 100_000, unit: k, of: bare }),
    row('  over streamable HTTP', median(rates.streams), { unit: k, of: bare }),
    row('  over the pipes of `agentproto acp`', median(rates.stdio), { unit: k, of: bare }),
  ]
}

/** One turn of updates; none may be missing. */
async function streamOnce(client, session, flood) {
  const count = lineCounter()
  let frame
  client.onUpdate((bytes) => {
    frame ??= bytes.toString()
    count.push(bytes)
  })
  const began = now()
  await session.prompt(`flood ${flood}`)
  const perSecond = (flood / (now() - began)) * 1_000
  if (count.lines < flood) throw new Error(`${flood - count.lines} of ${flood} updates were lost`)
  return { perSecond, frame }
}

/** Both see the same session. */
async function besideSlow({ http, pid }, fast, { cwd, flood }) {
  const session = await openSession(fast, cwd)
  const alone = await streamOnce(fast, session, flood)
  const slow = await acpOverSocket(http)
  await slow.request('session/resume', { sessionId: session.sessionId, cwd, mcpServers: [] })
  slow.socket.pause()
  const before = rss(pid)
  const peak = peakRss(pid)
  const beside = await streamOnce(fast, session, flood)
  const beyond = peak.stop() - before
  slow.socket.terminate()
  return [
    row('updates to an ACP client beside one that does not read', beside.perSecond, {
      unit: k,
      of: alone.perSecond,
    }),
    row('  memory of the gateway at its peak, beyond before', beyond, { most: 60, unit: mb }),
  ]
}
