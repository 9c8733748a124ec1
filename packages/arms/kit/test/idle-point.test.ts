import { IdlePoint } from '@agentproto/arm-kit'
import type { AgentSignal, AgentSink, StreamOffsets } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'

const TEXT: AgentSignal = { type: 'text-delta', text: 'a' }

/** An idle point over a sink whose batches are stored by hand. */
function points(mark: () => number | Promise<void> = () => 7) {
  const stored: (() => void)[] = []
  const timers = new Set<() => void>()
  let full = (): void => {}
  const acknowledged: { readonly facts: string; readonly isBusy: boolean }[] = []
  const inner: AgentSink = {
    emit: () => new Promise((resolve) => stored.push(resolve)),
    ask: () => new Promise(() => {}),
    mark,
  }
  const process = {
    offsets: { stdin: 1, stdout: 2, stderr: 3 },
    acknowledge: async (_: StreamOffsets, facts: string, isBusy: boolean) => void acknowledged.push({ facts, isBusy }),
    caughtUp: Promise.resolve(),
    begin: () => {},
    first: { stdin: 0, stdout: 0, stderr: 0 },
    onFull: (listener: () => void) => void (full = listener),
    exit: new Promise<never>(() => {}),
    lost: new Promise<never>(() => {}),
  }
  const clock = {
    now: () => 0,
    after: (_: number, run: () => void) => {
      timers.add(run)
      return { cancel: () => timers.delete(run) }
    },
  }
  const subject = { isIdle: true, facts: () => ({ of: 'arm' }) as Record<string, unknown> }
  const idle = new IdlePoint(inner, { process, host: { of: 'host' }, clock })
  const runTimers = (): void => {
    const due = [...timers]
    timers.clear()
    for (const run of due) run()
  }
  return { idle, subject, stored, runTimers, acknowledged, process, full: () => full() }
}

const FACTS = '{"version":1,"mark":7,"host":{"of":"host"},"arm":{"of":"arm"}}'

test('16.a2 there is a point when the session is open, and again only when something changed', async () => {
  const { idle, subject, acknowledged, process } = points()
  idle.watch(subject)
  await Promise.resolve()
  expect(acknowledged).toEqual([{ facts: FACTS, isBusy: false }])
  idle.look()
  await Promise.resolve()
  expect(acknowledged).toHaveLength(1)
  process.offsets = { stdin: 1, stdout: 9, stderr: 3 }
  idle.look()
  await Promise.resolve()
  expect(acknowledged).toHaveLength(2)
})

test('16.a2 before a prompt there is a point at once, of a busy agent', async () => {
  const { idle, subject, acknowledged } = points()
  idle.watch(subject)
  await Promise.resolve()
  expect(idle.beforePrompt()).toBeUndefined()
  expect(acknowledged.at(-1)).toEqual({ facts: FACTS, isBusy: true })
})

test('16 speed: the point after a turn is taken a moment later, and not at all if the next prompt comes sooner', async () => {
  const { idle, subject, acknowledged, process, runTimers } = points()
  idle.watch(subject)
  await Promise.resolve()
  void idle.beforePrompt()
  process.offsets = { stdin: 2, stdout: 9, stderr: 3 }
  idle.look()
  await Promise.resolve()
  expect(acknowledged).toHaveLength(2)
  runTimers()
  expect(acknowledged.slice(2)).toEqual([{ facts: FACTS, isBusy: false }])
  for (const stdout of [10, 11]) {
    process.offsets = { stdin: 2, stdout, stderr: 3 }
    void idle.beforePrompt()
    idle.look()
    await Promise.resolve()
  }
  expect(acknowledged.slice(3).map(({ isBusy }) => isBusy)).toEqual([true, true])
})

test('16.a2 a prompt waits until all that was emitted is stored, and holds up what is emitted meanwhile', async () => {
  const { idle, subject, stored, acknowledged } = points()
  idle.watch(subject)
  await Promise.resolve()
  void idle.emit([TEXT])
  let isReached = false
  void idle.beforePrompt()?.then(() => (isReached = true))
  let isTaken = false
  void idle.emit([TEXT])?.then(() => (isTaken = true))
  stored[0]?.()
  await new Promise((resolve) => setImmediate(resolve))
  expect([isReached, isTaken, acknowledged.length]).toEqual([false, false, 1])
  stored[1]?.()
  await new Promise((resolve) => setImmediate(resolve))
  expect([isReached, isTaken, acknowledged.length]).toEqual([true, true, 2])
})

test('16.a2 a prompt that waits too long is written, and the agent cannot be adopted until the next point', async () => {
  const { idle, subject, runTimers, acknowledged } = points()
  idle.watch(subject)
  await Promise.resolve()
  subject.isIdle = false
  const waiting = idle.beforePrompt()
  runTimers()
  await waiting
  expect(acknowledged.at(-1)).toEqual({ facts: '', isBusy: true })
  subject.isIdle = true
  idle.look()
  await Promise.resolve()
  expect(acknowledged.at(-1)).toEqual({ facts: FACTS, isBusy: false })
})

test('16.a2 what is held back is stored before there is a point', async () => {
  let release = (): void => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  let isHeld = true
  const { idle, subject, acknowledged } = points(() => (isHeld ? held : 7))
  idle.watch(subject)
  await new Promise((resolve) => setImmediate(resolve))
  expect(acknowledged).toEqual([])
  isHeld = false
  release()
  await new Promise((resolve) => setImmediate(resolve))
  expect(acknowledged).toHaveLength(1)
})

test('16.a2 facts that are too long make the agent unadoptable, with one warning', async () => {
  const { idle, subject, stored, acknowledged } = points()
  subject.facts = () => ({ options: 'x'.repeat(300_000) })
  idle.watch(subject)
  await Promise.resolve()
  expect(acknowledged).toEqual([{ facts: '', isBusy: false }])
  expect(stored).toHaveLength(1)
  stored[0]?.()
  void idle.beforePrompt()
  await Promise.resolve()
  expect(stored).toHaveLength(1)
})

test('16.1 a keeper that is full in the middle of a turn forgets what was passed on, again and again, until the next point', async () => {
  const { idle, subject, stored, runTimers, acknowledged, process, full } = points()
  idle.watch(subject)
  await Promise.resolve()
  subject.isIdle = false
  full()
  await Promise.resolve()
  expect(acknowledged.at(-1)).toEqual({ facts: '', isBusy: true })
  expect(stored).toHaveLength(1)
  process.offsets = { stdin: 1, stdout: 50, stderr: 3 }
  runTimers()
  expect(acknowledged).toHaveLength(3)
  full()
  await Promise.resolve()
  expect(stored).toHaveLength(1)
  subject.isIdle = true
  stored[0]?.()
  await expect.poll(() => acknowledged.at(-1)).toEqual({ facts: FACTS, isBusy: false })
})
