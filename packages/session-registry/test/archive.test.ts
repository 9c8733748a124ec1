import { appendFile, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionEvent } from '@agentproto/contracts'
import { homeLayout } from '@agentproto/contracts/agent'
import type { ExportFormat } from '@agentproto/contracts/wire'
import type { SessionRegistry } from '@agentproto/session-registry'
import { expect, test } from 'vitest'
import { ManualClock, settled } from './fixtures/manual-clock.js'
import { echo, scripted, type Script } from './fixtures/scripted-agent.js'
import {
  allEvents,
  fileRegistry,
  memoryRegistry,
  owner,
  resumableAdapters,
  temporaryHome,
  types,
} from './fixtures/test-registry.js'

const talk: Script = async ({ text, emit }) => {
  await emit({ type: 'thought', text: 'Let me ' }, { type: 'thought', text: 'think of zebras.' })
  await emit({ type: 'tool-call', toolCallId: 't', title: 'Read a.txt', kind: 'read' })
  await emit({ type: 'tool-result', toolCallId: 't', status: 'completed', output: 'a Quagga' })
  await emit({ type: 'text-delta', text: `About ${text}: the ele` }, { type: 'text-delta', text: 'phant is\nbig.' })
  await emit({ type: 'turn-end', reason: 'end_turn' })
}

async function ended(registry: SessionRegistry, prompt: string, label = prompt): Promise<string> {
  const { id } = await registry.spawn({ adapter: 'fake', prompt, label }, owner)
  await registry.waitTurn(id, 1)
  await registry.kill(id, owner)
  return id
}

async function joinedText(pieces: AsyncIterable<string>): Promise<string> {
  let all = ''
  for await (const piece of pieces) all += piece
  return all
}

const exported = async (registry: SessionRegistry, id: string, format: ExportFormat): Promise<string> =>
  joinedText(await registry.archive.export(id, format))

async function* inPieces(whole: string, size = 7): AsyncGenerator<string> {
  for (let at = 0; at < whole.length; at += size) yield whole.slice(at, at + size)
}

test('a search finds words that were cut between two pieces, in prompts, answers, thoughts and tools, the newest session first', async () => {
  const home = await temporaryHome()
  const registry = await fileRegistry(home, scripted(talk))
  const [one, two] = [await ended(registry, 'cats'), await ended(registry, 'dogs')]
  const find = async (q: string): Promise<string[]> =>
    (await registry.archive.search({ q })).hits.map(({ sessionId, type, turn }) => `${sessionId} ${type} ${turn}`)
  expect(await find('ELEPHANT')).toEqual([`${two} text-delta 1`, `${one} text-delta 1`])
  expect(await find('me think')).toEqual([`${two} thought 1`, `${one} thought 1`])
  expect(await find('read a.txt')).toEqual([`${two} tool-call 1`, `${one} tool-call 1`])
  expect(await find('quagga')).toEqual([`${two} tool-result 1`, `${one} tool-result 1`])
  expect(await find('cats')).toEqual([`${one} user-prompt 1`, `${one} text-delta 1`])
  expect(await find('nowhere')).toEqual([])
  const { hits } = await registry.archive.search({ q: 'phant is big' })
  expect(hits).toEqual([])
  const [hit] = (await registry.archive.search({ q: 'phant is', limit: 1 })).hits
  expect(hit).toMatchObject({ title: 'dogs', excerpt: 'About dogs: the elephant is big.' })
})

test('a search is bounded, continues from its cursor, and finds only what its caller may see', async () => {
  const { registry } = await memoryRegistry(scripted(talk))
  const ids = [await ended(registry, 'a'), await ended(registry, 'b'), await ended(registry, 'c')]
  const first = await registry.archive.search({ q: 'elephant', limit: 2 })
  expect(first.hits.map(({ sessionId }) => sessionId)).toEqual([ids[2], ids[1]])
  const next = await registry.archive.search({ q: 'elephant', limit: 2, after: first.nextCursor })
  expect([next.hits.map(({ sessionId }) => sessionId), next.nextCursor]).toEqual([[ids[0]], undefined])
  expect(await registry.archive.search({ q: 'elephant' }, { workspaces: ['other'] })).toEqual({ hits: [] })
  const gone = AbortSignal.abort()
  await expect(registry.archive.search({ q: 'nowhere' }, undefined, gone)).rejects.toMatchObject({ code: 'cancelled' })
})

test('a long message is found in, wherever the text lies, and searching opens no log for writing', async () => {
  const home = await temporaryHome()
  const long: Script = async ({ emit }) => {
    for (let i = 0; i < 2_000; i += 1)
      await emit(
        { type: 'text-delta', text: `${'word '.repeat(20)}${i === 1_234 ? 'nee' : ''}` },
        { type: 'text-delta', text: i === 1_234 ? 'dle ' : '' },
      )
    await emit({ type: 'turn-end', reason: 'end_turn' })
  }
  const first = await fileRegistry(home, scripted(long))
  const id = await ended(first, 'x')
  await first.close()
  const clock = new ManualClock()
  const registry = await fileRegistry(home, { ...scripted(), clock })
  expect((await registry.archive.search({ q: 'needle' })).hits).toMatchObject([{ sessionId: id, seq: 4 }])
  expect(clock.pending).toBe(0)
})

test('a session that is exported as JSON Lines or JSON can be imported elsewhere, and reads the same there', async () => {
  const { registry } = await memoryRegistry(scripted(talk))
  const id = await ended(registry, 'hello')
  for (const format of ['jsonl', 'json'] as const) {
    const other = await fileRegistry(await temporaryHome(), { ...scripted(), hostId: 'elsewhere' })
    const session = await other.archive.import(inPieces(await exported(registry, id, format)), owner)
    expect(session).toMatchObject({
      id,
      status: 'killed',
      stopReason: 'user_canceled',
      resumable: false,
      turnCount: 1,
      label: 'hello',
      hostId: 'elsewhere',
      imported: { id, hostId: 'test' },
    })
    expect(await allEvents(other, id)).toEqual(await allEvents(registry, id))
    expect(await other.turns(id)).toEqual(await registry.turns(id))
    expect(await other.output(id)).toEqual(await registry.output(id))
    await expect(other.prompt(id, { prompt: 'go on' }, owner)).rejects.toMatchObject({ code: 'session_ended' })
    await expect(other.resume(id, {}, owner)).rejects.toMatchObject({ code: 'not_resumable' })
    expect((await other.archive.search({ q: 'elephant' })).hits).toHaveLength(1)
  }
})

test('an import whose id is taken gets another one; one that ran when it was exported is brought to an end', async () => {
  const never: Script = async ({ emit }) => {
    await emit({ type: 'tool-call', toolCallId: 't', title: 'Run' })
    await new Promise(() => undefined)
  }
  const { registry } = await memoryRegistry(scripted(never))
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await settled()
  const session = await registry.archive.import(inPieces(await exported(registry, id, 'jsonl')), owner)
  expect(session.id).not.toBe(id)
  expect(session).toMatchObject({ status: 'error', turn: { state: 'idle' }, imported: { id } })
  const events = await allEvents(registry, session.id)
  expect(types(events).slice(-6)).toEqual(['tool-result', 'error', 'turn-end', 'repair', 'status', 'session-stopped'])
  expect(events.every(({ sessionId }) => sessionId === session.id)).toBe(true)
  expect(await registry.get(id)).toMatchObject({ status: 'running' })
})

const head = '{"format":"agentproto.session.v1","session":{"id":"s_aaaaaaaaaaaaaa"}}\n'
const event = (seq: number, rest: object): string =>
  `${JSON.stringify({ seq, ts: '2026-01-01T00:00:00.000Z', sessionId: 's_aaaaaaaaaaaaaa', ...rest })}\n`

test.each([
  ['nothing', ''],
  ['no JSON', 'hello\nworld'],
  ['another document', '{"events":[]}'],
  ['no events', head],
  ['a path for an id', head.replace('s_aaaaaaaaaaaaaa', '../../x') + event(1, { type: 'title', title: 'x' })],
  ['a hole', head + event(1, { type: 'title', title: 'x' }) + event(3, { type: 'title', title: 'x' })],
  ['an unknown event', head + event(1, { type: 'surprise' })],
  ['a payload that is none', head + event(1, { type: 'text-delta', text: 5 })],
  ['a prompt that is none', head + event(1, { type: 'user-prompt', turn: 1, content: [{ type: 'image' }] })],
  ['an event of no turn', head + event(1, { type: 'text-delta', turn: 1, text: 'x' })],
  ['half a line', head + event(1, { type: 'title', title: 'x' }) + '{"seq":2'],
])('an import of %s is refused, and nothing stays of it', async (_, given) => {
  const home = await temporaryHome()
  const registry = await fileRegistry(home, scripted())
  await expect(registry.archive.import(inPieces(given), owner)).rejects.toMatchObject({
    code: expect.stringMatching(/^(invalid_request|session_not_found)$/) as string,
  })
  expect((await registry.list()).sessions).toEqual([])
  expect(await readdir(homeLayout(home).sessions)).toEqual([])
})

test('secrets that are known here are taken out of what is imported', async () => {
  const { registry } = await memoryRegistry(scripted(talk))
  const jsonl = await exported(registry, await ended(registry, 'hunter2'), 'jsonl')
  const { registry: other } = await memoryRegistry({
    ...scripted(),
    redact: (json) => json.replaceAll('hunter2', '***'),
  })
  const { id } = await other.archive.import(inPieces(jsonl), owner)
  expect(JSON.stringify(await allEvents(other, id))).not.toContain('hunter2')
})

test('the transcript has each turn with its prompt, tools and answer, as Markdown and as JSON', async () => {
  const { registry } = await memoryRegistry(scripted(talk))
  const id = await ended(registry, 'cats | dogs')
  const markdown = await exported(registry, id, 'md')
  expect(markdown).toContain('# cats | dogs\n')
  expect(markdown).toContain(
    '## Turn 1\n\n> cats | dogs\n\n- `Read a.txt` (completed)\n\nAbout cats | dogs: the elephant is\nbig.\n',
  )
  expect(JSON.parse(await exported(registry, id, 'transcript'))).toMatchObject({
    session: { id },
    turns: [
      { number: 1, prompt: 'cats | dogs', reason: 'end_turn', tools: [{ name: 'Read a.txt', status: 'completed' }] },
    ],
  })
  await expect(registry.archive.export('s_00000000000000', 'md')).rejects.toMatchObject({ code: 'session_not_found' })
})

test('prune forgets what ended long ago and nothing else; a dry run forgets nothing', async () => {
  const home = await temporaryHome()
  const clock = new ManualClock()
  const registry = await fileRegistry(home, { ...scripted(), clock })
  const old = await ended(registry, 'old')
  const { id: live } = await registry.spawn({ adapter: 'fake' }, owner)
  await clock.advance(3_600_000)
  const young = await ended(registry, 'young')
  const olderThanMs = 1_800_000
  expect(await registry.archive.prune({ olderThanMs, dryRun: true }, owner)).toMatchObject({
    dryRun: true,
    pruned: [{ id: old, label: 'old' }],
  })
  expect((await registry.list()).sessions).toHaveLength(3)
  expect((await registry.archive.prune({ olderThanMs }, owner)).pruned.map(({ id }) => id)).toEqual([old])
  expect((await registry.list()).sessions.map(({ id }) => id)).toEqual([young, live])
  expect(await readdir(homeLayout(home).sessions)).toHaveLength(2)
})

test('retentionMs forgets by itself, at the start and from then on', async () => {
  const { registry, clock } = await memoryRegistry({ ...scripted(), config: { retentionMs: 86_400_000 } })
  await ended(registry, 'x')
  await clock.advance(20 * 3_600_000)
  expect((await registry.list()).sessions).toHaveLength(1)
  await clock.advance(6 * 3_600_000)
  expect((await registry.list()).sessions).toHaveLength(0)
})

test('repair finds nothing wrong with a session that is whole, and refuses a live one', async () => {
  const registry = await fileRegistry(await temporaryHome(), scripted())
  const id = await ended(registry, 'x')
  expect(await registry.archive.repair(id, { dryRun: false }, owner)).toEqual({ id, dryRun: false, findings: [] })
  const { id: live } = await registry.spawn({ adapter: 'fake' }, owner)
  await expect(registry.archive.repair(live, { dryRun: true }, owner)).rejects.toMatchObject({ code: 'session_live' })
})

/** A session as a full disk or a foreign hand would leave it. */
async function damaged(
  home: string,
  damage: (log: string, lines: readonly string[]) => Promise<void>,
): Promise<string> {
  const registry = await fileRegistry(home, { ...scripted(echo, { resume: true }), adapters: resumableAdapters })
  const id = await ended(registry, 'x')
  await registry.close()
  const path = join(homeLayout(home).sessions, id, 'events.jsonl')
  await damage(path, (await readFile(path, 'utf8')).trimEnd().split('\n'))
  return id
}

const kinds = ({ findings }: { findings: readonly { kind: string; mended: boolean }[] }): string[] =>
  findings.map(({ kind, mended }) => `${kind} ${mended}`)

test.each([
  ['a torn end', async (path: string) => appendFile(path, '{"seq":99,"ts'), ['torn-tail']],
  [
    'no end of the run',
    async (path: string, lines: readonly string[]) => writeFile(path, `${lines.slice(0, -2).join('\n')}\n`),
    ['no-end', 'record-differs'],
  ],
  [
    'no end of the turn',
    async (path: string, lines: readonly string[]) => writeFile(path, `${lines.slice(0, 4).join('\n')}\n`),
    ['dangling-turn', 'no-end', 'record-differs'],
  ],
  [
    'more than the record knows',
    async (path: string, lines: readonly string[]) =>
      appendFile(
        path,
        `${lines
          .at(-1)
          ?.replace(/"seq":\d+/, `"seq":${lines.length + 1}`)
          .replace('session-stopped', 'repair')
          .replace('"status":"killed"', '"detail":"by hand"')}\n`,
      ),
    ['record-differs'],
  ],
])(
  'repair finds %s, tells it without touching anything in a dry run, and mends it by appending',
  async (_, damage, expected) => {
    const home = await temporaryHome()
    const id = await damaged(home, damage)
    const path = join(homeLayout(home).sessions, id, 'events.jsonl')
    const before = await readFile(path, 'utf8')
    const registry = await fileRegistry(home, { ...scripted(echo, { resume: true }), adapters: resumableAdapters })
    expect(kinds(await registry.archive.repair(id, { dryRun: true }, owner))).toEqual(
      expected.map((kind) => `${kind} false`),
    )
    expect(await readFile(path, 'utf8')).toBe(before)
    expect(kinds(await registry.archive.repair(id, { dryRun: false }, owner))).toEqual(
      expected.map((kind) => `${kind} true`),
    )
    expect((await readFile(path, 'utf8')).startsWith(before.slice(0, before.lastIndexOf('\n') + 1))).toBe(true)
    expect(kinds(await registry.archive.repair(id, { dryRun: true }, owner))).toEqual([])
    const events = await allEvents(registry, id)
    expect(events.map(({ seq }) => seq)).toEqual(events.map((each: SessionEvent, index) => index + 1))
    expect(types(events).filter((type) => type === 'turn-end')).toHaveLength(1)
    expect(await registry.get(id)).toMatchObject({ status: 'killed', lastSeq: events.length, turnCount: 1 })
    await registry.resume(id, {}, owner)
    const { turn } = await registry.prompt(id, { prompt: 'y' }, owner)
    expect(await registry.waitTurn(id, turn)).toMatchObject({ number: 2, text: 'echo: y' })
  },
)
