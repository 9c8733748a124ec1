import type { EventRecord } from '@agentproto/contracts/agent'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { LogAssembler } from '../src/log/log-assembler.js'
import { messagesOf } from '../src/log/log-batch.js'
import { type LogMessage, NO_BODY } from '../src/log/log-message.js'
import { LocalLog } from './support/local-log.ts'

const RUNS = 300

test('17.4 however a log is split, cut at its beginning and delivered twice, each event comes once or is in a gap', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ events: fc.integer({ min: 1, max: 30 }), chars: fc.integer({ min: 0, max: 400 }) }), {
        minLength: 1,
        maxLength: 12,
      }),
      fc.record({
        maxBytes: fc.integer({ min: 64, max: 3_000 }),
        removed: fc.integer({ min: 0, max: 10 }),
        after: fc.integer({ min: 0, max: 100 }),
        again: fc.integer({ min: 0, max: 5 }),
      }),
      (appends, { maxBytes, removed, after, again }) => {
        const log = logOf(appends)
        const messages = split(log.records, appends, maxBytes).slice(removed)
        const twice = messages.flatMap((message, at) => (at < again ? [message, ...messages.slice(0, at)] : [message]))
        const { records, lost } = assemble(after, [...twice, endOf(log.lastSeq)])
        expect(inOrder(records)).toBe(true)
        for (const record of records) expect(record).toEqual(log.records[record.seq - 1])
        const last = log.lastSeq
        const got = new Set(records.map(({ seq }) => seq))
        for (let seq = after + 1; seq <= last; seq += 1) expect(got.has(seq) !== lost.has(seq)).toBe(true)
      },
    ),
    { numRuns: RUNS },
  )
})

test('17.4 after each change of the owner, readers have what the last owner has', () => {
  fc.assert(
    fc.property(
      fc.array(fc.record({ published: fc.integer({ min: 0, max: 20 }), unpublished: fc.integer({ min: 0, max: 5 }) }), {
        minLength: 1,
        maxLength: 6,
      }),
      fc.integer({ min: 0, max: 30 }),
      (owners, ahead) => {
        const truth: EventRecord[] = []
        const messages: LogMessage[] = []
        for (const [at, { published }] of owners.entries()) {
          const epoch = at + 1
          const lastSeq = truth.length
          if (epoch > 1) messages.push({ kind: 'owner', epoch, first: lastSeq + 1, last: lastSeq, body: NO_BODY })
          const records = ownLog(lastSeq, published, `owner ${epoch}`)
          truth.push(...records)
          messages.push(...messagesOf({ records }, { epoch, maxBytes: 500 }))
        }
        // The reader has events of the first owner that were never published.
        const after = (owners[0]?.published ?? 0) + ahead
        const { cursor } = assemble(after, messages)
        expect(cursor).toBe(owners.length > 1 ? truth.length : Math.max(after, truth.length))
        expect(assemble(0, messages).records).toEqual(truth)
      },
    ),
    { numRuns: RUNS },
  )
})

function assemble(
  after: number,
  messages: readonly LogMessage[],
): { records: readonly EventRecord[]; lost: ReadonlySet<number>; cursor: number } {
  const assembler = new LogAssembler('s_1', after)
  const records: EventRecord[] = []
  const lost = new Set<number>()
  for (const message of messages)
    for (const { records: more, gap } of assembler.take(message)) {
      for (let seq = (gap?.after ?? 0) + 1; seq < (gap?.first ?? 0); seq += 1) lost.add(seq)
      records.push(...more)
    }
  return { records, lost, cursor: assembler.cursor }
}

const endOf = (last: number): LogMessage => ({ kind: 'end', epoch: 1, first: last + 1, last, body: NO_BODY })

test('17.4 an event whose first part was removed is a gap as soon as its last part is read', () => {
  const log = logOf([{ events: 1, chars: 400 }])
  const messages = [...messagesOf({ records: log.records }, { epoch: 1, maxBytes: 100 })]
  expect(messages.length).toBeGreaterThan(5)
  expect(assemble(0, messages.slice(1))).toMatchObject({ records: [], lost: new Set([1]), cursor: 1 })
  expect(assemble(0, messages.slice(1, -1))).toMatchObject({ records: [], lost: new Set(), cursor: 0 })
})

interface Append {
  readonly events: number
  readonly chars: number
}

function logOf(appends: readonly Append[]): LocalLog {
  const log = new LocalLog('s_1')
  for (const { events, chars } of appends) log.append(events, (seq) => `${seq} ${'ä'.repeat(chars)}`)
  return log
}

function ownLog(after: number, count: number, text: string): readonly EventRecord[] {
  const log = new LocalLog('s_1')
  log.append(after + count, (seq) => `${text} ${seq}`)
  return log.records.slice(after)
}

/** One batch for each append. */
function split(records: readonly EventRecord[], appends: readonly Append[], maxBytes: number): readonly LogMessage[] {
  let from = 0
  return appends.flatMap(({ events }) => {
    const batch = records.slice(from, (from += events))
    return [...messagesOf({ records: batch }, { epoch: 1, maxBytes })]
  })
}

const inOrder = (records: readonly EventRecord[]): boolean =>
  records.every(({ seq }, at) => at === 0 || seq > (records[at - 1]?.seq ?? 0))
