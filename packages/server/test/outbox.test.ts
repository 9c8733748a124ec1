import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { DropReason } from '@agentproto/contracts/wire'
import { expect, test, vi } from 'vitest'
import { FakeClock } from '../../gateway-http/test/fake-clock.ts'
import { Outbox } from '../src/notify/outbox.js'
import type { Delivery, Message } from '../src/notify/webhook.js'
import { WebhookSender } from '../src/notify/webhook-sender.js'
import { temporaryFolder } from './fixtures/temporary-folder.js'

const DAY_MS = 24 * 60 * 60 * 1_000

const body = (text = ''): string => JSON.stringify({ type: 'notify.test', data: { text } })

async function outboxIn(directory: string | undefined, limits: { entries?: number; bytes?: number } = {}) {
  const clock = new FakeClock()
  clock.advance(Date.parse('2026-01-01T00:00:00Z'))
  const dropped: [DropReason, number][] = []
  const problems: string[] = []
  const outbox = new Outbox({
    entries: 1_000,
    bytes: 1_000_000,
    maxAgeMs: DAY_MS,
    ...limits,
    directory,
    clock,
    onDropped: (...what) => dropped.push(what),
    onProblem: (problem) => problems.push(problem),
  })
  await outbox.open()
  return { outbox, clock, dropped, problems }
}

test('14.2.3 what was not delivered is there after a restart, with its id and body, in order', async () => {
  const home = join(await temporaryFolder(), 'outbox')
  const before = await outboxIn(home)
  for (const id of ['msg_c', 'msg_a', 'msg_b']) {
    await before.outbox.add({ id, body: body(id) })
    before.clock.advance(1)
  }
  await before.outbox.remove('msg_a')
  const after = await outboxIn(home)
  expect(after.outbox.first).toMatchObject({ id: 'msg_c', body: body('msg_c') })
  await after.outbox.remove('msg_c')
  expect(after.outbox.first).toMatchObject({ id: 'msg_b' })
  await after.outbox.remove('msg_b')
  expect(await readdir(home)).toEqual([])
})

test('14.2.3 the outbox is bounded by entries, bytes and age; the oldest are dropped and counted', async () => {
  const home = join(await temporaryFolder(), 'outbox')
  const { outbox, clock, dropped } = await outboxIn(home, { entries: 3 })
  await Promise.all(['a', 'b', 'c', 'd', 'e'].map((name) => outbox.add({ id: `msg_${name}`, body: body() })))
  expect(dropped).toEqual([
    ['full', 1],
    ['full', 1],
  ])
  await outbox.flushed()
  expect((await readdir(home)).map((name) => name.slice(14))).toEqual(['msg_c.json', 'msg_d.json', 'msg_e.json'])
  clock.advance(DAY_MS + 1)
  expect(outbox.first).toBeUndefined()
  expect(dropped.at(-1)).toEqual(['expired', 3])
  await outbox.flushed()
  expect(await readdir(home)).toEqual([])

  const small = await outboxIn(undefined, { bytes: 3 * body('x'.repeat(100)).length })
  for (const id of ['msg_1', 'msg_2', 'msg_3', 'msg_4']) await small.outbox.add({ id, body: body('x'.repeat(100)) })
  expect([small.outbox.size, small.outbox.first?.id]).toEqual([3, 'msg_2'])
})

test('14.2.3 garbage in the outbox is deleted and counted, and the rest is delivered', async () => {
  const home = join(await temporaryFolder(), 'outbox')
  await mkdir(home)
  const file = (name: string, text: string): Promise<void> => writeFile(join(home, name), text)
  await file('1767225600000-msg_good.json', body('good'))
  await file('1767225600001-msg_cut.json', body('cut').slice(0, 20))
  await file('1767225600002-msg_list.json', '[]')
  await file('1767225600003-msg_large.json', JSON.stringify({ type: 'x', data: { text: 'x'.repeat(20_000) } }))
  await file('1767225600004-..json', '\0\u001b[2J')
  await file('1767225600005-msg_draft.json.tmp', '{')
  await mkdir(join(home, '1767225600006-msg_folder.json'))
  const { outbox, dropped, problems } = await outboxIn(home)
  expect([outbox.size, outbox.first?.id]).toEqual([1, 'msg_good'])
  expect(dropped).toEqual([['unreadable', 5]])
  expect(problems).toHaveLength(1)
  expect(await readdir(home)).toEqual(['1767225600000-msg_good.json'])
})

test('14.2.3 a disk that cannot be written costs the restart, not the delivery', async () => {
  const home = await temporaryFolder()
  // A file stands where the folder should be: root writes to a read-only folder.
  await writeFile(join(home, 'outbox'), '')
  const { outbox, problems } = await outboxIn(join(home, 'outbox'))
  await outbox.add({ id: 'msg_a', body: body() })
  expect(outbox.first).toMatchObject({ id: 'msg_a' })
  expect(problems.at(-1)).toContain('cannot be written')
})

test('14.2.3 files of the outbox are for their owner alone', async () => {
  const home = join(await temporaryFolder(), 'outbox')
  const { outbox } = await outboxIn(home)
  await outbox.add({ id: 'msg_a', body: body() })
  const { stat } = await import('node:fs/promises')
  const [name = ''] = await readdir(home)
  expect([(await stat(home)).mode & 0o777, (await stat(join(home, name))).mode & 0o777]).toEqual([0o700, 0o600])
  expect(await readFile(join(home, name), 'utf8')).toBe(body())
  await chmod(home, 0o700)
})

/** A sender whose receiver answers from a list; the last answer repeats. */
async function sending(answers: readonly Delivery[], limits?: { entries?: number }) {
  const { outbox, clock, dropped } = await outboxIn(undefined, limits)
  const sent: string[] = []
  const send = async ({ id }: Message): Promise<Delivery> => {
    sent.push(id)
    return answers[Math.min(sent.length, answers.length) - 1] ?? { ok: true }
  }
  const counts = { delivered: 0, failed: 0 }
  const sender = new WebhookSender({
    outbox,
    send,
    clock,
    jitter: () => 0,
    onDelivered: () => counts.delivered++,
    onFailed: () => counts.failed++,
    onDropped: (...what) => dropped.push(what),
  })
  const add = async (id: string): Promise<void> => {
    await outbox.add({ id, body: body() })
    sender.wake()
  }
  return { outbox, clock, dropped, sent, sender, add, counts }
}

test('14.2.3 a receiver that answers 500 for ever gets fewer and fewer attempts, then the message is dropped', async () => {
  const { clock, sent, add, dropped, outbox, sender } = await sending([{ ok: false, status: 500 }])
  const start = clock.now()
  await add('msg_a')
  const attempts: number[] = []
  for (const waitMs of [5_000, 30_000, 120_000, 600_000, 1_800_000, 3_600_000, 3_600_000]) {
    await vi.waitFor(() => expect(clock.pending).toBe(1))
    expect(sender.nextAttemptAt).toBe(clock.now() + waitMs)
    attempts.push(clock.now() - start)
    clock.advance(waitMs - 1)
    expect(sent).toHaveLength(attempts.length)
    clock.advance(1)
    await vi.waitFor(() => expect(sent).toHaveLength(attempts.length + 1))
  }
  expect(new Set(sent)).toEqual(new Set(['msg_a']))
  await vi.waitFor(() => expect(clock.pending).toBe(1))
  // The attempt that is due, which fails too, and the next one.
  clock.advance(DAY_MS)
  await vi.waitFor(() => expect(clock.pending).toBe(1))
  clock.advance(3_600_000)
  await vi.waitFor(() => expect(outbox.size).toBe(0))
  expect(dropped).toEqual([['expired', 1]])
  expect(clock.pending).toBe(0)
})

test('14.2.3 a failure holds all messages back; a delivery ends that, and none is lost or sent twice', async () => {
  const { clock, sent, add, counts } = await sending([{ ok: false, status: 503, retryAfterMs: 60_000 }, { ok: true }])
  await add('msg_a')
  await vi.waitFor(() => expect(clock.pending).toBe(1))
  await add('msg_b')
  await add('msg_c')
  clock.advance(59_999)
  expect(sent).toEqual(['msg_a'])
  clock.advance(1)
  await vi.waitFor(() => expect(counts).toEqual({ delivered: 3, failed: 1 }))
  expect(sent).toEqual(['msg_a', 'msg_a', 'msg_b', 'msg_c'])
})

test('14.2.3 a message that is refused three times is dropped; a receiver that is gone gets no more', async () => {
  const { clock, sent, add, dropped, counts } = await sending([
    { ok: false, status: 400 },
    { ok: false, status: 400 },
    { ok: false, status: 400 },
    { ok: true },
    { ok: false, status: 410 },
  ])
  await add('msg_bad')
  for (const attempts of [2, 3]) {
    await vi.waitFor(() => expect(clock.pending).toBe(1))
    clock.advance(3_600_000)
    await vi.waitFor(() => expect(sent).toHaveLength(attempts))
  }
  expect(dropped).toEqual([['rejected', 1]])
  await add('msg_good')
  await vi.waitFor(() => expect(clock.pending).toBe(1))
  clock.advance(3_600_000)
  await vi.waitFor(() => expect(counts.delivered).toBe(1))
  await add('msg_last')
  await vi.waitFor(() => expect(dropped.at(-1)).toEqual(['gone', 1]))
  expect(clock.pending).toBe(0)
})
