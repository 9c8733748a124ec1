// What the ratios compare with: a client made of the ACP SDK only, with the same demo agent, without a log.
import { spawn } from 'node:child_process'
import { Readable, Writable } from 'node:stream'
import { client, ndJsonStream } from '@agentclientprotocol/sdk'
import { demoAgentPath } from '@agentproto/demo-agent'
import { median, now, timeEach } from './measure.mjs'
import { k, ms, row } from './table.mjs'

export async function startRaw(cwd) {
  return connectRaw(cwd, startAgent(cwd))
}

function startAgent(cwd) {
  const child = spawn(process.execPath, [demoAgentPath], {
    stdio: ['pipe', 'pipe', 'inherit'],
    cwd,
    env: { ...process.env, AGENTPROTO_DEMO_HOME: cwd },
  })
  const { stdin, stdout } = child
  const stop = async () => {
    child.kill('SIGKILL')
    await new Promise((resolve) => child.once('exit', resolve))
  }
  return { stdin, stdout, stop }
}

/** The client over the pipes of an agent that runs, wherever they are held. */
export async function connectRaw(cwd, agent) {
  let onUpdate = () => undefined
  const connection = client({ name: 'bench' })
    .onNotification('session/update', () => onUpdate())
    .connect(ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout)))
  await connection.agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} })
  const { sessionId } = await connection.agent.request('session/new', { cwd, mcpServers: [] })
  return {
    prompt: (text) => connection.agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
    onUpdate: (listener) => (onUpdate = listener),
    async stop() {
      connection.close()
      await agent.stop()
    },
  }
}

export async function measureRaw({ cwd, starts, prompts, warmUp, flood }) {
  const spawns = await timeEach(starts, 1, async () => (await startRaw(cwd)).stop())
  const agent = await startRaw(cwd)
  const trips = await timeEach(prompts, warmUp, () => agent.prompt('x'))
  let updates = 0
  agent.onUpdate(() => (updates += 1))
  const began = now()
  await agent.prompt(`flood ${Math.min(flood, 100_000)}`)
  const floodMs = now() - began
  await agent.stop()
  return { spawnMs: median(spawns), tripMs: median(trips), perSecond: (updates / floodMs) * 1_000 }
}

export const rawRows = ({ spawnMs, tripMs, perSecond }) => [
  row('raw SDK client: spawn → ready', spawnMs, { unit: ms }),
  row('raw SDK client: prompt, warm, p50', tripMs, { unit: ms }),
  row('raw SDK client: updates, no log', perSecond, { unit: k }),
]
