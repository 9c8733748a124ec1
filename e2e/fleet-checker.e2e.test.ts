import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, onTestFinished, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { type CheckedSession, faultsOf, type StoredMessage } from './chaos/fleet-check.mjs'
import { watchAgents } from './chaos/fleet-owners.mjs'
import { note } from './chaos/follower.mjs'
import { TurnContent } from './chaos/prompts.mjs'

// The checker of the chaos of a fleet: each fault that it is there for is planted once.

const ID = 's_checked'
const CWD = '/work'
/** Chunks of a turn. */
const CHUNKS = 5

type Plain = Readonly<Record<string, unknown>>

/** Two turns, as a session stores them. */
const events: readonly Plain[] = [
  { type: 'status', status: 'starting' },
  ...turn(1, 'n000001kslow'),
  ...turn(2, 'n000002kslow'),
  { type: 'session-stopped', status: 'killed' },
]

function turn(number: number, token: string): readonly Plain[] {
  return [
    { turn: number, type: 'user-prompt', content: [{ type: 'text', text: `stream; ${token}` }] },
    ...Array.from({ length: CHUNKS }, (_, at) => ({ turn: number, type: 'text-delta', text: `chunk ${at}\n` })),
    { turn: number, type: 'text-delta', text: token },
    { turn: number, type: 'turn-end', reason: 'end_turn' },
  ]
}

/** The lines of events, numbered from 1. */
const linesOf = (all: readonly Plain[]): readonly string[] =>
  all.map((event, at) => JSON.stringify({ seq: at + 1, sessionId: ID, ...event }))

const lines = linesOf(events)

/** A session without a fault, whose log is the same everywhere. */
function checked({ at = lines, ...more }: Partial<CheckedSession> & { at?: readonly string[] } = {}): CheckedSession {
  const calm = new TurnContent(CWD)
  for (const event of turn(1, 'n000001kslow')) calm.take(event)
  return {
    id: ID,
    cwd: CWD,
    lines: at,
    copies: new Map([['two', at]]),
    reader: readerOf(at),
    stored: messagesOf(at),
    tokens: new Map([
      ['n000001kslow', 1],
      ['n000002kslow', 2],
    ]),
    calm: new Map([['slow', calm.lanes()]]),
    ...more,
  }
}

/** What a reader has of these messages of SSE. */
function readerOf(seen: readonly string[]) {
  const reader = { id: ID, last: 0, chain: '', faults: [], digests: new Map<number, string>() }
  for (const line of seen) note(reader, `id: ${(JSON.parse(line) as { seq: number }).seq}\ndata: ${line}`)
  return reader
}

/** One message for each four events, of the owner of epoch 1. */
const messagesOf = (all: readonly string[]): StoredMessage[] =>
  Array.from({ length: Math.ceil(all.length / 4) }, (_, at) => {
    const some = all.slice(at * 4, at * 4 + 4)
    const seqs = some.map((line) => (JSON.parse(line) as { seq: number }).seq)
    const body = Buffer.from(some.join('\n'))
    return { kind: 'events', epoch: 1, first: seqs[0] ?? 0, last: seqs.at(-1) ?? 0, body }
  })

const without = <T>(all: readonly T[], at: number): readonly T[] => all.filter((_, index) => index !== at)
const twice = <T>(all: readonly T[], at: number): readonly T[] =>
  all.flatMap((one, i) => (i === at ? [one, one] : [one]))
const swapped = <T>(all: readonly T[], at: number): readonly T[] =>
  all.map((one, index) => all[index === at ? at + 1 : index === at + 1 ? at : index] ?? one)
const CHANGES = { lost: without, repeated: twice, reordered: swapped } as const
const changes = Object.entries(CHANGES)
/** In the middle of the first turn. */
const HERE = 4

test('17.3 the checker finds nothing in a session whose log is the same everywhere', () => {
  expect(faultsOf(checked())).toEqual([])
  expect(faultsOf(checked({ mayMove: true }))).toEqual([])
})

test.each(changes)('17.3 the checker sees an event that is %s, wherever it is', (_, change) => {
  const planted = change(lines, HERE)
  expect(faultsOf(checked({ at: planted }))).not.toEqual([])
  expect(faultsOf(checked({ copies: new Map([['two', planted]]) }))).not.toEqual([])
  expect(faultsOf(checked({ reader: readerOf(planted) }))).not.toEqual([])
  expect(faultsOf(checked({ stored: messagesOf(planted) }))).not.toEqual([])
})

test.each(changes)('17.3 the checker sees an event that is %s before the owner gave it a number', (_, change) => {
  expect(faultsOf(checked({ at: linesOf(change(events, HERE)) }))).not.toEqual([])
})

test.each(changes)('17.3 the checker sees a message of the servers that is %s', (_, change) => {
  expect(faultsOf(checked({ stored: change(messagesOf(lines), 1) }))).not.toEqual([])
})

test('17.3 the checker sees another text under the same number', () => {
  const planted = lines.map((line, at) => (at === HERE ? line.replace('chunk', 'trunk') : line))
  expect(faultsOf(checked({ at: planted }))).not.toEqual([])
  expect(faultsOf(checked({ reader: readerOf(planted) }))).toEqual(['its reader has read other events'])
  expect(faultsOf(checked({ stored: messagesOf(planted) }))).toHaveLength(1)
})

test('17.3 the checker sees a reader, a host and servers that lack the end', () => {
  const planted = lines.slice(0, -1)
  expect(faultsOf(checked({ reader: readerOf(planted) }))).toHaveLength(1)
  expect(faultsOf(checked({ copies: new Map([['two', planted]]) }))).toHaveLength(1)
  expect(faultsOf(checked({ stored: messagesOf(planted) }))).toHaveLength(1)
})

test('17.3 the checker sees events after the end, and messages that say other numbers than they have', () => {
  const planted = [...lines, JSON.stringify({ seq: lines.length + 1, sessionId: ID, type: 'title', title: 'x' })]
  expect(faultsOf(checked({ copies: new Map([['two', planted]]) }))).toHaveLength(1)
  expect(faultsOf(checked({ stored: messagesOf(planted) }))).toHaveLength(1)
  const overlapping = messagesOf(lines).map((message, at) => (at === 1 ? { ...message, first: 3 } : message))
  expect(faultsOf(checked({ stored: overlapping }))).toEqual(['the servers: event 3 comes after 4'])
})

test('17.3 the checker sees a prompt that runs twice, never, or was not sent, and a turn that was cut', () => {
  const again = linesOf([...events.slice(0, -1), ...turn(3, 'n000002kslow'), ...events.slice(-1)])
  expect(faultsOf(checked({ at: again }))).not.toEqual([])
  expect(faultsOf(checked({ at: again, mayMove: true }))).toEqual(['the prompt n000002kslow has two turns'])
  expect(faultsOf(checked({ tokens: new Map([['n000001kslow', 1]]) }))).toEqual(['turn 2 was not asked for'])
  expect(faultsOf(checked({ tokens: new Map([...checked().tokens, ['n000003kslow', 3]]) }))).toHaveLength(1)
  const cut = events.map((event) => (event['turn'] === 2 && event['reason'] ? { ...event, reason: 'error' } : event))
  expect(faultsOf(checked({ at: linesOf(cut) }))).toEqual(['turn 2 (n000002kslow) ended as error'])
})

test('17.3 the checker sees two owners in the messages of the servers', () => {
  const stored = messagesOf(lines)
  const second = stored.map((message, at) => (at === 2 ? { ...message, epoch: 2 } : message))
  // The earlier owner goes on after the later one has begun, and nobody said that it changed.
  expect(faultsOf(checked({ stored: second, mayMove: true }))).toHaveLength(3)
  expect(faultsOf(checked({ stored: second }))).not.toEqual([])
  const owner = { kind: 'owner', epoch: 2, first: 9, last: 8, body: Buffer.alloc(0) }
  const moved = [...stored.slice(0, 2), owner, ...stored.slice(2).map((message) => ({ ...message, epoch: 2 }))]
  expect(faultsOf(checked({ stored: moved, mayMove: true }))).toEqual([])
  expect(faultsOf(checked({ stored: moved }))).not.toEqual([])
})

/** The host of a session was lost with its events 5 and 6, and another one goes on. */
function movedWithLoss(
  detail: string,
): Pick<CheckedSession, 'mayMove' | 'reader'> & { at: readonly string[]; stored: StoredMessage[] } {
  const numbered = linesOf(events)
  const said = JSON.stringify({ seq: 7, sessionId: ID, type: 'repair', detail })
  const after = linesOf([...events.slice(0, 6), { type: 'repair', detail }, ...events.slice(6)]).slice(7)
  const at = [...numbered.slice(0, 4), said, ...after]
  const body = Buffer.alloc(0)
  const owner = { kind: 'owner', epoch: 2, first: 5, last: 4, body }
  const gap = { kind: 'gap', epoch: 2, first: 5, last: 6, body }
  const [before, ...later] = [...messagesOf(at.slice(0, 4)), ...messagesOf(at.slice(4))]
  const stored = [before, owner, gap, ...later.map((message) => ({ ...message, epoch: 2 }))]
  // Such a session has no reader: it may have read what was never published.
  return { at, reader: undefined, mayMove: true, stored: stored.flatMap((message) => message ?? []) }
}

test('17.3 the checker knows what a lost host had not published, and takes no other gap for that', () => {
  const moved = movedWithLoss('The host one was lost. 2 of its events are lost')
  expect(faultsOf(checked(moved))).toEqual([])
  // Nobody has said it; the session was not to move; the gap is not where the owner changes; it is another gap.
  expect(faultsOf(checked(movedWithLoss('The host one was lost')))).toHaveLength(1)
  expect(faultsOf(checked({ ...moved, mayMove: false }))).not.toEqual([])
  const [before, owner, gap, ...later] = moved.stored
  if (before === undefined || owner === undefined || gap === undefined) throw new Error('too few messages')
  expect(faultsOf(checked({ ...moved, stored: [before, gap, owner, ...later] }))).not.toEqual([])
  expect(faultsOf(checked({ ...moved, stored: [before, owner, { ...gap, last: 7 }, ...later] }))).not.toEqual([])
  expect(faultsOf(checked({ ...moved, stored: [before, owner, { ...gap, epoch: 1 }, ...later] }))).not.toEqual([])
})

test('17.3 the checker sees agents of one session on two hosts', needs('linux'), async () => {
  const found: string[] = []
  const watching = watchAgents((fault) => void found.push(fault))
  onTestFinished(() => watching.stop())
  await agent('s_apart', '/hosts/one')
  await agent('s_twice', '/hosts/one')
  await expect.poll(() => watching.looks).toBeGreaterThan(2)
  expect(found).toEqual([])
  await agent('s_twice', '/hosts/two')
  await expect.poll(() => found).toEqual(['s_twice has agents on 2 hosts at once: /hosts/one, /hosts/two'])
})

/** A process that looks like the agent of a session, until the test ends. */
async function agent(session: string, root: string): Promise<void> {
  const env = { AGENTPROTO_SESSION_ID: session, CHAOS_ROOT: root }
  const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { env, stdio: 'ignore' })
  await once(child, 'spawn')
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  })
}
