import { fileURLToPath } from 'node:url'
import { defineAgentCli } from '@agentproto/driver-agent-cli'
import type { AgentCliHandle, AgentHost, StreamEvent } from '@agentproto/driver-agent-cli'
import { type Clock, systemClock } from '@agentproto/contracts'
import { transcriptPreamble } from '@agentproto/contracts/agent'
import type { AgentCliDocument } from '@agentproto/manifest'
import { identify } from '@agentproto/subprocess'
import { expect, onTestFinished, test } from 'vitest'
import { document, host, say, textOf } from './small-agent.ts'

const agentFile = fileURLToPath(new URL('fixtures/several.mjs', import.meta.url))

const remembering: AgentCliDocument = {
  ...document,
  capabilities: { resumable: true },
  continuation: {
    default: 'pinned-session',
    supported: ['pinned-session', 'transcript', 'native-resume', 'none'],
    pinned_session: { idle_timeout_ms: 60_000, key_scope: ['conversation', 'operator'] },
  },
}

/** Real time for short limits, and a hand on the clock for what takes minutes. */
function patientClock(): Clock & { expire(): void } {
  const waiting = new Set<() => void>()
  return {
    now: systemClock.now,
    after(ms, run) {
      if (ms < 30_000) return systemClock.after(ms, run)
      waiting.add(run)
      return { cancel: () => void waiting.delete(run) }
    },
    expire() {
      for (const run of waiting) run()
      waiting.clear()
    },
  }
}

function agent(source: AgentCliDocument = remembering, more: Partial<AgentHost> = {}): AgentCliHandle {
  const handle = defineAgentCli(source, { ...host, executables: { 'small-agent': agentFile }, ...more })
  onTestFinished(() => handle.close())
  return handle
}

async function textOfRun(events: AsyncIterable<StreamEvent>): Promise<string> {
  const all: StreamEvent[] = []
  for await (const event of events) all.push(event)
  return textOf(all)
}

const here = { key: { conversation: 'c1', operator: 'o1' } }

test('AIP-45 continuation pinned-session: the next run of a conversation finds the process and its memory', async () => {
  const small = agent()
  const pid = await textOfRun(small.run('pid', { continuation: here }))
  expect(await textOfRun(small.run('pid', { continuation: here }))).toBe(pid)
  expect(await textOfRun(small.run('recall', { continuation: here }))).toBe('pid')
  const elsewhere = { key: { conversation: 'c2', operator: 'o1' } }
  expect(await textOfRun(small.run('pid', { continuation: elsewhere }))).not.toBe(pid)
  expect(await textOfRun(small.run('pid', { continuation: here, mode: 'plan' }))).not.toBe(pid)
  await small.close()
  expect(identify(Number(pid))).toBeUndefined()
})

test('pinned-session: an unused process is ended after its idle time, one in use is not', async () => {
  const clock = patientClock()
  const small = agent(remembering, { clock })
  const held = await small.start({ continuation: here })
  const pid = Number(textOf(await say(held, 'pid')))
  clock.expire()
  expect(identify(pid)).toBeDefined()
  expect(await held.close()).toEqual({})
  expect(identify(pid)).toBeDefined()
  clock.expire()
  await expect.poll(() => identify(pid)).toBeUndefined()
  expect(await textOfRun(small.run('pid', { continuation: here }))).not.toBe(String(pid))
})

test('pinned-session: two sessions of one key do not mix their turns, and leave nothing running behind', async () => {
  const small = agent()
  const [one, two] = await Promise.all([small.start({ continuation: here }), small.start({ continuation: here })])
  const hanging = say(one, 'hang')
  await expect(say(two, 'x')).rejects.toMatchObject({ code: 'turn_in_progress' })
  await one.close()
  expect((await hanging).at(-1)).toMatchObject({ type: 'turn-end', reason: 'cancelled' })
  expect(textOf(await say(two, 'still here'))).toBe('still here')
  const pid = textOf(await say(two, 'pid'))
  const deaf = say(two, 'deaf')
  await two.close()
  // A turn that cannot be cancelled would be the next user's.
  expect((await deaf).at(-1)).toMatchObject({ reason: 'cancelled' })
  expect(identify(Number(pid))).toBeUndefined()
  expect(await textOfRun(small.run('pid', { continuation: here }))).not.toBe(pid)
})

test('pinned-session: after a crash the next run starts a new process', async () => {
  const small = agent()
  await textOfRun(small.run('first', { continuation: here }))
  await textOfRun(small.run('crash', { continuation: here }))
  expect(await textOfRun(small.run('how', { continuation: here }))).toBe('new')
})

test('AIP-45 continuation transcript: the last turns go before the message, once', async () => {
  const small = agent()
  const transcript = [
    { role: 'user', text: 'left out' },
    { role: 'agent', text: 'too' },
    { role: 'user', text: 'the word is heron' },
    { role: 'agent', text: 'noted' },
  ] as const
  const session = await small.start({ continuation: { strategy: 'transcript', transcript, lastTurns: 1 } })
  onTestFinished(async () => void (await session.close()))
  const preamble =
    'The conversation so far, oldest first:\n\nUser: the word is heron\n\nAgent: noted\n\nIt goes on with this message:'
  expect(textOf(await say(session, 'which word?'))).toBe(`${preamble}\nwhich word?`)
  expect(textOf(await say(session, 'again'))).toBe('again')
})

test('transcript: what is too long is left out from its beginning', () => {
  const long = 'x'.repeat(150_000)
  const turns = [long, long].map((text) => ({ role: 'user', text: `${text}!` }) as const)
  expect(transcriptPreamble(turns).match(/User: x/g)).toHaveLength(1)
  expect(transcriptPreamble([{ role: 'user', text: `${long}${long}` }])).toHaveLength(200_078)
  expect(transcriptPreamble(turns, 0)).toBe('')
  expect(transcriptPreamble([])).toBe('')
})

test('AIP-45 continuation native-resume: the agent takes the session up itself, by load where it cannot resume, or by its own flag', async () => {
  const continuation = { strategy: 'native-resume', agentSessionId: 'old' } as const
  expect(await textOfRun(agent().run('recall', { continuation }))).toBe('something long ago')
  const flag = { ...remembering, metadata: { agentproto: { resume: { bin_args_template: ['--resume', '{value}'] } } } }
  expect(await textOfRun(agent(flag).run('argv', { continuation }))).toBe('["acp","--resume","old"]')
  const unable = { ...remembering, bin_args: ['acp', '--forgetful'] }
  await expect(textOfRun(agent(unable).run('x', { continuation }))).rejects.toMatchObject({ code: 'not_resumable' })
})

test('what the agent has stored is listed for a later resume, where it lists', async () => {
  const small = agent()
  const session = await small.start()
  onTestFinished(async () => void (await session.close()))
  expect(await session.storedSessions()).toEqual([{ agentSessionId: 'old', cwd: '/there' }])
  const unable = await agent({ ...remembering, bin_args: ['acp', '--forgetful'] }).start()
  onTestFinished(async () => void (await unable.close()))
  await expect(unable.storedSessions()).rejects.toMatchObject({ code: 'not_supported' })
})

test('AIP-45 continuation outside supported: is refused, and one that lacks what it needs', async () => {
  const start = (source: AgentCliDocument, continuation: object): Promise<unknown> =>
    agent(source).start({ continuation })
  const narrow: AgentCliDocument = { ...remembering, continuation: { default: 'none', supported: ['none'] } }
  await expect(start(narrow, { strategy: 'transcript', transcript: [] })).rejects.toMatchObject({
    code: 'continuation_unsupported',
    message: expect.stringContaining('Expected one of none. Given: transcript'),
  })
  await expect(start(document, { strategy: 'pinned-session', ...here })).rejects.toMatchObject({
    code: 'continuation_unsupported',
  })
  const forgetful = { ...remembering, capabilities: {} }
  const id = { strategy: 'native-resume', agentSessionId: 'old' }
  await expect(start(forgetful, id)).rejects.toMatchObject({ code: 'continuation_unsupported' })
  for (const continuation of [{ key: { operator: 'o' } }, { strategy: 'transcript' }, { strategy: 'native-resume' }]) {
    await expect(start(remembering, continuation)).rejects.toMatchObject({ code: 'invalid_request' })
  }
  const flag = { ...remembering, metadata: { agentproto: { resume: { bin_args_template: ['{value}'] } } } }
  await expect(start(flag, { ...id, agentSessionId: '--yolo' })).rejects.toMatchObject({ code: 'invalid_request' })
})

test('AIP-45 continuation none: every run is fresh', async () => {
  const small = agent()
  const continuation = { strategy: 'none' } as const
  expect(await textOfRun(small.run('pid', { continuation }))).not.toBe(
    await textOfRun(small.run('pid', { continuation })),
  )
})
