import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type AgentHost, FirstStarts, launchAgent } from '@agentproto/driver-agent-cli'
import type { RunningAgent } from '@agentproto/contracts/agent'
import { expect, onTestFinished, test } from 'vitest'
import { document, host, small } from './small-agent.ts'

const agentFile = fileURLToPath(new URL('fixtures/first-run.mjs', import.meta.url))
const manifest = { ...small().manifest, metadata: { agentproto: { first_start: 'alone' } } }

/** A host on which this agent has never run. */
function newHost(): AgentHost {
  const home = mkdtempSync(join(tmpdir(), 'first-'))
  onTestFinished(() => rmSync(home, { recursive: true }))
  return {
    ...host,
    env: { ...host.env, SMALL_TOKEN: home },
    executables: { [document.bin ?? '']: agentFile },
    firstStarts: new FirstStarts(),
  }
}

let ids = 0

async function launch(on: AgentHost, signal = new AbortController().signal): Promise<RunningAgent> {
  const agent = await launchAgent(manifest, {
    sessionId: `ses_first_${process.pid}_${ids++}`,
    adapterSlug: 'small',
    cwd: process.cwd(),
    additionalDirectories: [],
    mcpServers: [],
    origin: { how: 'new' },
    env: {},
    signal,
    sink: { emit: () => {}, ask: async () => ({ outcome: 'cancelled' }) },
    host: on,
  })
  onTestFinished(async () => void (await agent.stop()))
  return agent
}

test('an agent that prepares its home at its first start can be started three times at once', async () => {
  const on = newHost()
  const agents = await Promise.all([launch(on), launch(on), launch(on)])
  expect(new Set(agents.map(({ process: info }) => info?.pid)).size).toBe(3)
})

test('a first start beside another one fails, and the message has its error, not the last line', async () => {
  const { firstStarts: _kept, ...on } = newHost()
  // As another agent does that is just being started.
  mkdirSync(join(on.env?.['SMALL_TOKEN'] ?? '', 'preparing'))
  await expect(launch(on)).rejects.toMatchObject({ message: expect.stringContaining('Failed query: CREATE TABLE') })
})

test('a first start that fails lets the next one try; one that is cancelled while it waits ends at once', async () => {
  const starts = new FirstStarts()
  const { signal } = new AbortController()
  let fail = (_reason: Error): void => {}
  const ran: string[] = []
  const first = starts.run('a', () => new Promise((_resolve, reject) => void (fail = reject)), signal)
  const impatient = new AbortController()
  const second = starts.run('a', async () => ran.push('second'), impatient.signal)
  const third = starts.run('a', async () => ran.push('third'), signal)
  impatient.abort()
  await expect(second).rejects.toMatchObject({ code: 'cancelled' })
  expect(ran).toEqual([])
  fail(new Error('no disk'))
  await expect(first).rejects.toThrow('no disk')
  await third
  expect(ran).toEqual(['third'])
})
