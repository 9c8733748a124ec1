import { type KeptLink, SharedPoints } from '@agentproto/arm-kit'
import {
  type AgentSignal,
  type AgentSink,
  readSharedFacts,
  type SharedFacts,
  type StreamOffsets,
} from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'

/** The points of several sessions, over a process whose offsets are lines. */
function points() {
  const acknowledged: { readonly upTo: StreamOffsets; readonly facts: SharedFacts | undefined }[] = []
  const place = { stdin: 0, stdout: 0, stderr: 0 }
  let full = (): void => {}
  const process: KeptLink['process'] = {
    first: { ...place },
    get offsets() {
      return { ...place }
    },
    acknowledge: async (upTo, text) => void acknowledged.push({ upTo, facts: readSharedFacts(text) }),
    caughtUp: Promise.resolve(),
    exit: new Promise(() => {}),
    lost: new Promise(() => {}),
    begin: () => {},
    onFull: (listener) => (full = listener),
  }
  const clock = { now: () => 0, after: () => ({ cancel: () => {} }) }
  const subject = {
    get lines() {
      return { ...place }
    },
    facts: () => ({ of: 'process' }),
  }
  const shared = new SharedPoints({ process, host: {}, clock, isShared: true }, subject)
  const join = (key: string) => {
    const emitted: AgentSignal[] = []
    const sink: AgentSink = {
      emit: (batch) => void emitted.push(...batch),
      ask: () => new Promise(() => {}),
      mark: () => emitted.length,
    }
    const session = { isIdle: true, facts: () => ({ of: key, models: ['many'] }) as Record<string, unknown> }
    const idle = shared.join({ key, host: { of: 'host' } }, sink)
    idle.watch(session)
    return { idle, session, emitted }
  }
  const last = () => acknowledged.at(-1)
  const keys = (): readonly string[] | undefined => last()?.facts?.sessions.map(({ key }) => key)
  return { shared, join, place, full: () => full(), last, keys }
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('16.3 the keeper forgets what is before the oldest turn that runs; sessions that are idle do not hold it up', async () => {
  const { join, place, last } = points()
  const [a, b] = [join('a'), join('b')]
  await settled()
  place.stdout = 10
  void a.idle.beforePrompt()
  a.session.isIdle = false
  place.stdout = 20
  void b.idle.beforePrompt()
  expect(last()?.upTo.stdout).toBe(10)
  expect(last()?.facts?.from.stdout).toBe(10)
  expect(last()?.facts?.sessions.map(({ key, at }) => [key, at.lines.stdout])).toEqual([
    ['a', 10],
    ['b', 20],
  ])
  place.stdout = 30
  a.session.isIdle = true
  a.idle.renew()
  expect(last()?.upTo.stdout).toBe(30)
})

test('16.1 a keeper that is full: the longest turn gives up its point and says so, and the others are still kept', async () => {
  const { join, place, full, last, keys } = points()
  const [a, b, c] = [join('a'), join('b'), join('c')]
  await settled()
  for (const [session, at] of [
    [a, 10],
    [b, 20],
  ] as const) {
    place.stdout = at
    void session.idle.beforePrompt()
    session.session.isIdle = false
  }
  place.stdout = 1_000
  full()
  await settled()
  expect(keys()).toEqual(['b', 'c'])
  expect(last()?.upTo.stdout).toBe(20)
  expect(a.emitted).toMatchObject([{ type: 'notice', severity: 'warning' }])
  expect([b.emitted, c.emitted]).toEqual([[], []])
  a.session.isIdle = true
  a.idle.renew()
  expect(keys()).toEqual(['a', 'b', 'c'])
})

test('16.3 a session that was closed holds up nothing, and is not stored', async () => {
  const { shared, join, place, last, keys } = points()
  const [a, b] = [join('a'), join('b')]
  await settled()
  place.stdout = 10
  void a.idle.beforePrompt()
  a.session.isIdle = false
  place.stdout = 20
  b.idle.renew()
  expect(last()?.upTo.stdout).toBe(10)
  shared.leave('a')
  expect(keys()).toEqual(['b'])
  expect(last()?.upTo.stdout).toBe(20)
})

test.each(['', 'garbage', '{"version":2,"shared":{}}', '{"version":1,"shared":{"arm":{},"from":{"stdin":-1}}}'])(
  '16.3 facts that are not of a shared process are none: %s',
  (text) => {
    expect(readSharedFacts(text)).toBeUndefined()
  },
)
