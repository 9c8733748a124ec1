import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { EventGap, OutputItem, SessionEvent } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import type { ExportFormat } from '@agentproto/contracts/wire'
import type { SessionRegistry } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { scripted, type Script } from './fixtures/scripted-agent.js'
import { allEvents, drain, fileRegistry, owner, temporaryHome, types } from './fixtures/test-registry.js'

// Lines in the middle of a log that are no events any more: whoever reads the log is told so, whatever it is read as.

/** Lines 4 to 9 of the log; three lines of text to a turn. */
const talk: Script = async ({ text, emit }) => {
  await emit({ type: 'text-delta', text: `${text} one\n` })
  await emit({ type: 'text-delta', text: `${text} two and ` }, { type: 'text-delta', text: 'a half\n' })
  await emit({ type: 'text-delta', text: `${text} three\n` })
  await emit({ type: 'turn-end', reason: 'end_turn' })
}

const DAMAGE: readonly (readonly [string, (line: string) => string])[] = [
  ['zeros', (line) => '\0'.repeat(line.length)],
  ['half a line', (line) => line.slice(0, line.length / 1.3)],
  ['a line whose head is whole', (line) => line.replace(/"\}$/, '}')],
  ['other text', () => 'What was here is gone'],
]

interface Damaged {
  readonly home: string
  readonly id: string
  readonly registry: SessionRegistry
  /** The events as they were. */
  readonly before: readonly SessionEvent[]
}

/** A session of three turns that has ended, and a host that finds these lines of its log damaged. */
async function damaged(numbers: readonly number[], spoil = DAMAGE[0]?.[1]): Promise<Damaged> {
  const home = await temporaryHome()
  const first = await fileRegistry(home, scripted(talk))
  const { id } = await first.spawn({ adapter: 'fake', prompt: 'a' }, owner)
  await first.waitTurn(id, 1)
  for (const [index, prompt] of ['b', 'c'].entries()) {
    await first.prompt(id, { prompt }, owner)
    await first.waitTurn(id, index + 2)
  }
  await first.kill(id, owner)
  const before = await allEvents(first, id)
  await first.close()
  const path = join(homeLayout(home).sessions, id, 'events.jsonl')
  const lines = (await readFile(path, 'utf8')).split('\n')
  for (const number of numbers) lines[number - 1] = spoil?.(lines[number - 1] ?? '') ?? ''
  await writeFile(path, lines.join('\n'))
  return { home, id, before, registry: await fileRegistry(home, scripted(talk)) }
}

async function exported({ registry, id }: Damaged, format: ExportFormat): Promise<string> {
  let text = ''
  for await (const piece of await registry.archive.export(id, format)) text += piece
  return text
}

async function followed({ registry, id }: Damaged, cursor?: string): Promise<OutputItem[]> {
  const reader = await registry.followOutput(id, cursor)
  const items: OutputItem[] = []
  for (let batch = await reader.next(); batch !== undefined; batch = await reader.next()) items.push(...batch)
  return items
}

const said = (items: readonly OutputItem[]): (string | EventGap)[] =>
  items.flatMap((item): (string | EventGap)[] => {
    if (item.type === 'gap') return [item.gap]
    return item.type === 'line' ? [item.line.line] : []
  })

/** Where the log of `damaged` has what. */
const seqOf = (text: string, { before }: Damaged): number =>
  before.find((event) => event.type === 'text-delta' && event.text === text)?.seq ?? 0

test.each(DAMAGE)('%s: events are served around it, and it is a gap', async (_, spoil) => {
  for (const lost of [[1], [1, 2], [5], [5, 6], [1, 5]]) {
    const { registry, id, before } = await damaged(lost, spoil)
    const batches = await drain(await registry.follow(id, 0))
    const read = batches.flatMap(({ records }) => records.map(({ json }) => JSON.parse(json) as SessionEvent))
    expect(read).toEqual(before.filter(({ seq }) => !lost.includes(seq)))
    const gone = batches.flatMap(({ gap }) => (gap === undefined ? [] : numbersIn(gap)))
    expect(gone).toEqual(lost)
  }
})

const numbersIn = ({ after, first }: EventGap): number[] =>
  Array.from({ length: first - after - 1 }, (_, index) => after + 1 + index)

test('a line stream reports a gap once, in its place, and does not join the lines on its two sides', async () => {
  const ground = await damaged([6])
  expect(seqOf('a half\n', ground)).toBe(6)
  const gap = { after: 5, first: 7 }
  const all = await followed(ground, '0')
  expect(said(all).slice(0, 6)).toEqual([
    '[user] a',
    'a one',
    'a two and ',
    gap,
    'a three',
    '── turn-end (end_turn) ──',
  ])
  expect(all.filter(({ type }) => type === 'gap')).toEqual([{ cursor: '6', type: 'gap', gap }])
  // From every place a reader gets what lies behind it, and the gap only when it lies behind it.
  for (const [index, { cursor }] of all.entries()) expect(await followed(ground, cursor)).toEqual(all.slice(index + 1))
})

test('a line stream that begins in a gap, or whose log begins with one, reports it', async () => {
  const ground = await damaged([1, 2, 3])
  const all = await followed(ground, '0')
  expect(said(all).slice(0, 2)).toEqual([{ after: 0, first: 4 }, 'a one'])
  expect(said(await followed(ground, '1')).slice(0, 2)).toEqual([{ after: 1, first: 4 }, 'a one'])
})

test('the last lines contain a line for a gap', async () => {
  const { registry, id } = await damaged([18])
  const lines = await registry.output(id, 100)
  expect(lines.filter(({ line }) => line.startsWith('[gap]'))).toEqual([
    { stream: 'stderr', line: '[gap] event 18 cannot be read any more' },
  ])
})

test('a turn reports its gaps, and does not join the text on their two sides', async () => {
  const { registry, id, before } = await damaged([6])
  const turn = await registry.turn(id, 1)
  expect(turn).toMatchObject({
    text: 'a one\na two and a three\n',
    parts: [
      { type: 'text', text: 'a one\na two and ' },
      { type: 'text', text: 'a three\n' },
    ],
    gaps: [{ after: 5, first: 7 }],
  })
  expect(await registry.turn(id, 2)).not.toHaveProperty('gaps')
  expect(before).toHaveLength((await registry.get(id)).lastSeq)
})

test('an export marks the gap where it is, in every format', async () => {
  const ground = await damaged([6])
  const gap = { after: 5, first: 7 }
  const jsonl = (await exported(ground, 'jsonl')).trim().split('\n').slice(1)
  expect(jsonl[5]).toBe(JSON.stringify({ type: 'gap', gap }))
  expect(jsonl).toHaveLength(ground.before.length)
  const { events } = JSON.parse(await exported(ground, 'json')) as { events: unknown[] }
  expect(events).toEqual(jsonl.map((line) => JSON.parse(line) as unknown))
  const { turns } = JSON.parse(await exported(ground, 'transcript')) as { turns: object[] }
  expect(turns[0]).toMatchObject({
    text: 'a one\na two and \n[gap] event 6 cannot be read any more\na three\n',
    gaps: [gap],
  })
  expect(turns[1]).not.toHaveProperty('gaps')
  const markdown = await exported(ground, 'md')
  expect(markdown).toContain('a two and \n[gap] event 6 cannot be read any more\na three')
  expect(markdown.match(/\[gap\]/g)).toHaveLength(1)
})

test('an export and the list of turns keep their numbers when prompts and ends of turns are gone', async () => {
  const probe = await damaged([])
  const [end] = probe.before.filter(({ type, turn }) => type === 'turn-end' && turn === 1)
  const lost = [(end?.seq ?? 0) - 1, end?.seq ?? 0, (end?.seq ?? 0) + 1]
  const ground = await damaged(lost)
  const gap = { after: (lost[0] ?? 0) - 1, first: (lost[2] ?? 0) + 1 }
  const { turns } = JSON.parse(await exported(ground, 'transcript')) as { turns: object[] }
  expect(turns).toMatchObject([
    { number: 1, state: 'ended', reason: 'error', prompt: 'a', gaps: [gap] },
    { number: 2, state: 'ended', reason: 'end_turn', gaps: [gap] },
    { number: 3, prompt: 'c', text: 'c one\nc two and a half\nc three\n' },
  ])
  expect(await exported(ground, 'md')).toContain('## Turn 3\n\n> c')
})

test('a search reports what it could not read, and finds no match across a gap', async () => {
  const ground = await damaged([6])
  const { registry, id } = ground
  expect(await registry.archive.search({ q: 'a three' })).toMatchObject({
    hits: [{ sessionId: id, turn: 1, seq: 7 }],
    unreadable: [{ sessionId: id, events: 1 }],
  })
  expect((await registry.archive.search({ q: 'and a three' })).hits).toEqual([])
  const whole = await damaged([])
  expect(await whole.registry.archive.search({ q: 'a three' })).not.toHaveProperty('unreadable')
})

test('searches and exports report a lost end of a log as far as the record knows it', async () => {
  const probe = await damaged([])
  const last = probe.before.length
  const ground = await damaged([last - 1, last])
  const gap = { after: last - 2, first: last + 1 }
  const jsonl = (await exported(ground, 'jsonl')).trim().split('\n')
  expect(jsonl.at(-1)).toBe(JSON.stringify({ type: 'gap', gap }))
  expect((await ground.registry.archive.search({ q: 'c three' })).unreadable).toEqual([
    { sessionId: ground.id, events: 2 },
  ])
})

test('an export with a gap can be imported, and the gap stays visible', async () => {
  const ground = await damaged([6, 9])
  const other = await fileRegistry(await temporaryHome(), scripted(talk))
  async function* text(): AsyncGenerator<string> {
    yield await exported(ground, 'jsonl')
  }
  const session = await other.archive.import(text(), owner)
  const events = await allEvents(other, session.id)
  expect(events.map(({ seq }) => seq)).toEqual(ground.before.map(({ seq }) => seq))
  expect(events[5]).toMatchObject({ type: 'repair', detail: 'event 6 could not be read when the session was exported' })
  expect(types(events).filter((type) => type === 'repair')).toHaveLength(2)
  expect(session).toMatchObject({ turnCount: 3, status: 'killed' })
})

test('a repair names what is gone, makes nothing worse, and changes no number', async () => {
  const probe = await damaged([])
  const [end] = probe.before.filter(({ type, turn }) => type === 'turn-end' && turn === 1)
  const seq = end?.seq ?? 0
  const { registry, id } = await damaged([seq, seq + 1])
  const was = await registry.get(id)
  const report = await registry.archive.repair(id, { dryRun: false }, owner)
  expect(report.findings).toEqual([
    { kind: 'unreadable-events', detail: `2 event(s) cannot be read any more: ${seq}, ${seq + 1}`, mended: false },
  ])
  expect(await registry.get(id)).toEqual(was)
})

test('turns read from the log are built from what is left of them; a turn without any event is not replaced by another', async () => {
  const probe = await damaged([])
  const ofTurn = (number: number): number[] => probe.before.filter(({ turn }) => turn === number).map(({ seq }) => seq)
  const second = ofTurn(2)
  const withoutBook = async (lost: readonly number[]): Promise<Damaged> => {
    const ground = await damaged(lost)
    await ground.registry.close()
    const path = join(homeLayout(ground.home).sessions, ground.id, 'meta.json')
    const record = JSON.parse(await readFile(path, 'utf8')) as object
    await writeFile(path, JSON.stringify({ ...record, turns: [] }))
    return { ...ground, registry: await fileRegistry(ground.home, scripted(talk)) }
  }
  const prompt = await withoutBook(second.slice(0, 1))
  expect(await prompt.registry.turns(prompt.id)).toMatchObject([
    { number: 1, reason: 'end_turn' },
    { number: 2, reason: 'end_turn', firstSeq: second[0], lastSeq: second.at(-1) },
    { number: 3, reason: 'end_turn' },
  ])
  expect(await prompt.registry.turn(prompt.id, 2)).toMatchObject({
    prompt: [],
    text: 'b one\nb two and a half\nb three\n',
    gaps: [{ after: (second[0] ?? 0) - 1, first: (second[0] ?? 0) + 1 }],
  })
  const end = await withoutBook(second.slice(-1))
  expect(await end.registry.turn(end.id, 2)).toMatchObject({
    reason: 'error',
    error: 'How it ended cannot be read any more',
    gaps: [{ after: (second.at(-1) ?? 0) - 1 }],
  })
  const whole = await withoutBook(second)
  expect((await whole.registry.turns(whole.id)).map(({ number }) => number)).toEqual([1, 3])
  await expect(whole.registry.turn(whole.id, 2)).rejects.toMatchObject({ code: 'storage_corrupt' })
  await expect(whole.registry.turn(whole.id, 4)).rejects.toMatchObject({ code: 'turn_not_found' })
})

test('a line break that is gone makes one gap, and no event behind it is skipped', async () => {
  const { home, id, before, registry: first } = await damaged([])
  await first.close()
  const path = join(homeLayout(home).sessions, id, 'events.jsonl')
  const lines = (await readFile(path, 'utf8')).split('\n')
  await writeFile(path, [...lines.slice(0, 4), (lines[4] ?? '') + (lines[5] ?? ''), ...lines.slice(6)].join('\n'))
  const registry = await fileRegistry(home, scripted(talk))
  for (let after = 0; after < before.length; after += 1) {
    const { records, gap } = await registry.events(id, after, 1)
    const next = before.find(({ seq }) => seq > after && seq !== 5 && seq !== 6)
    expect([after, records[0]?.seq, gap?.first]).toEqual([
      after,
      next?.seq,
      next?.seq === after + 1 ? undefined : next?.seq,
    ])
  }
})
