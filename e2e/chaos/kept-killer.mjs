// Starts sessions and kills them at random moments: each is gone when the kill is answered.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { callUntilAnswered } from './daemon.mjs'
import { agentPids } from './processes.mjs'

const PROMPTS = ['stream 100000 5', 'hang', 'ask mortal.txt', 'fork; hang', 'stubborn; stream 100000 5']

export function killSessions({ current, root, random, fault }) {
  const cwd = join(root, 'mortal')
  mkdirSync(cwd)
  let isStopped = false
  let sessions = 0
  const work = run()
  return {
    stop: async () => {
      isStopped = true
      await work
    },
  }

  async function run() {
    while (!isStopped) await liveAndDie()
  }

  async function liveAndDie() {
    const label = `mortal-${(sessions += 1)}`
    const prompt = PROMPTS[Math.floor(random() * PROMPTS.length)]
    const call = (method, path, body) => callUntilAnswered(current, { method, path, body })
    try {
      // A start that the end of the gateway has cut has failed: it is not tried again here.
      await current().call('POST', '/sessions/agent', { adapter: 'demo', cwd, label, prompt })
    } catch {
      // The next gateway says below what became of it.
    }
    await pause(random() * 1_500)
    const { sessions: found } = await call('GET', `/sessions?label=${label}`)
    for (const { id } of found) {
      await call('POST', `/sessions/${id}/kill`, {})
      const { status } = await call('GET', `/sessions/${id}`)
      if (status === 'running' || status === 'starting') fault(`${id} was killed and is ${status}`)
      const left = agentPids(root, id)
      if (left.length > 0) fault(`${id} was killed, and its processes ${left.join()} are left`)
    }
  }
}

function pause(ms) {
  return new Promise((resolve) => setTimeout(resolve, ms))
}
