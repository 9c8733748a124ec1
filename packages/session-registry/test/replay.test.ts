import type { AgentSignal } from '@agentproto/contracts/agent'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { Difference, Replay } from '../src/adoption/replay.js'
import { laneOf, type LoggedSignal, loggedForm } from '../src/adoption/logged-signal.js'

/** What an agent emits again, compared with what the log has of it. */

const letters = fc.stringMatching(/^[ab]{1,3}$/)
const line = fc.stringMatching(/^[ab]{0,2}$/)

const signal: fc.Arbitrary<AgentSignal> = fc.oneof(
  { weight: 4, arbitrary: letters.map((text): AgentSignal => ({ type: 'text-delta', text })) },
  { weight: 2, arbitrary: letters.map((text): AgentSignal => ({ type: 'text-delta', text, messageId: 'm' })) },
  { weight: 2, arbitrary: letters.map((text): AgentSignal => ({ type: 'thought', text })) },
  { weight: 2, arbitrary: line.map((text): AgentSignal => ({ type: 'output', stream: 'stdout', text })) },
  { weight: 2, arbitrary: line.map((text): AgentSignal => ({ type: 'output', stream: 'stderr', text })) },
  fc.constantFrom('t1', 't2').map((toolCallId): AgentSignal => ({ type: 'tool-call', toolCallId, title: 'Run' })),
  fc
    .constantFrom('t1', 't2')
    .map((toolCallId): AgentSignal => ({ type: 'tool-result', toolCallId, status: 'completed' })),
  fc.constant<AgentSignal>({ type: 'config', config: { modeId: 'plan' } }),
)

const turn = fc.array(signal, { maxLength: 20 })

const isText = (each: AgentSignal): each is AgentSignal & { readonly text: string } =>
  each.type === 'text-delta' || each.type === 'thought' || each.type === 'output'

/** The same, cut into other pieces: text anywhere, output between its lines. */
function cutAgain(signals: readonly AgentSignal[], cuts: readonly number[]): AgentSignal[] {
  let at = 0
  const cut = (length: number): number => (cuts[at++ % Math.max(1, cuts.length)] ?? 0) % (length + 1)
  return signals.flatMap((each): AgentSignal[] => {
    if (!isText(each) || each.type === 'output') return [each]
    const place = cut(each.text.length)
    const parts = [each.text.slice(0, place), each.text.slice(place)].filter((part) => part !== '')
    return parts.map((text) => ({ ...each, text }))
  })
}

/** The content of a log: neighbouring text is one, and each lane is in order. */
function contentOf(signals: readonly AgentSignal[]): unknown {
  const lanes: Record<string, unknown[]> = { main: [], stderr: [] }
  const last: Record<string, { kind: string; text: string } | undefined> = {}
  for (const each of signals) {
    const lane = laneOf(loggedForm(each))
    if (!isText(each)) {
      lanes[lane]?.push(each)
      last[lane] = undefined
      continue
    }
    const { text: said, ...rest } = each
    const text = each.type === 'output' ? said.replaceAll('\n', '') : said
    const kind = JSON.stringify(rest)
    const open = last[lane]
    if (open?.kind === kind) open.text += text
    else if (text !== '') lanes[lane]?.push((last[lane] = { kind, text }))
  }
  return lanes
}

async function* inOrder(signals: readonly LoggedSignal[]): AsyncGenerator<LoggedSignal> {
  yield* signals
}

const replayOf = (logged: readonly AgentSignal[], redact?: (text: string) => string): Replay => {
  const forms = logged.map((each) => loggedForm(each, redact))
  return new Replay((lane) => inOrder(forms.filter((each) => laneOf(each) === lane)), redact)
}

async function fresh(replay: Replay, again: readonly AgentSignal[], batch: number): Promise<AgentSignal[]> {
  const all: AgentSignal[] = []
  for (let at = 0; at < again.length; at += batch) all.push(...(await replay.take(again.slice(at, at + batch))))
  return all
}

describe('16.3 what is emitted again', () => {
  test('makes the log of an uninterrupted run, wherever the host ended and however text is cut', async () => {
    const cases = fc.record({
      turn,
      end: fc.nat(20),
      extra: fc.nat(3),
      before: fc.array(fc.nat(3), { minLength: 1, maxLength: 5 }),
      after: fc.array(fc.nat(3), { minLength: 1, maxLength: 5 }),
      batch: fc.integer({ min: 1, max: 5 }),
    })
    await fc.assert(
      fc.asyncProperty(cases, async ({ turn: whole, end, extra, before, after, batch }) => {
        // Where the host ended, in the middle of a piece of text.
        const logged = cutAgain(whole.slice(0, end), before).slice(0, extra === 0 ? undefined : -extra)
        const added = await fresh(replayOf(logged), cutAgain(whole, after), batch)
        expect(contentOf([...logged, ...added])).toEqual(contentOf(whole))
      }),
      { numRuns: 500 },
    )
  })

  test('by an agent that sent something else is never taken for the same', async () => {
    const cases = fc.record({ turn: fc.array(signal, { minLength: 1, maxLength: 12 }), at: fc.nat(11), other: signal })
    await fc.assert(
      fc.asyncProperty(cases, async ({ turn: whole, at, other }) => {
        const again = whole.with(at % whole.length, other)
        const replay = replayOf(whole)
        const isSame = isEqual(contentOf(again), contentOf(whole))
        const { added, isDifferent } = await fresh(replay, again, 2)
          .then(async (all) => {
            await replay.finish()
            return { added: all, isDifferent: false }
          })
          .catch((thrown: unknown) => ({ added: [], isDifferent: thrown instanceof Difference }))
        const all = contentOf([...whole, ...added])
        // What is taken for the same is a beginning of what was sent; of stderr, the end may still come.
        expect(
          isSame ? !isDifferent : isDifferent || isEqual(laneIn(all, 'main'), laneIn(contentOf(again), 'main')),
        ).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})

const isEqual = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const laneIn = (content: unknown, lane: string): unknown =>
  typeof content === 'object' && content !== null ? Reflect.get(content, lane) : undefined

test('16.3 a secret that the log has redacted is compared as it was logged', async () => {
  const redact = (text: string): string => text.replaceAll('s3cret', '[redacted]')
  const said: AgentSignal[] = [
    { type: 'text-delta', text: 'the key is s3cret' },
    { type: 'turn-end', reason: 'end_turn' },
  ]
  expect(await fresh(replayOf(said, redact), said, 1)).toEqual([])
})

test('16.3 a turn that the host called a timeout is the one that the agent calls cancelled', async () => {
  const replay = replayOf([{ type: 'turn-end', reason: 'timeout' }])
  expect(await fresh(replay, [{ type: 'turn-end', reason: 'cancelled' }], 1)).toEqual([])
  const other = replayOf([{ type: 'turn-end', reason: 'timeout' }])
  await expect(fresh(other, [{ type: 'turn-end', reason: 'end_turn' }], 1)).rejects.toBeInstanceOf(Difference)
})

test('16.3 a title that a person gave meanwhile is no difference, and one of the agent comes once', async () => {
  const title: AgentSignal = { type: 'title', title: 'Mine' }
  const said: AgentSignal[] = [
    { type: 'text-delta', text: 'ab' },
    { type: 'title', title: 'Of the agent' },
  ]
  const [text, own] = said as [AgentSignal, AgentSignal]
  expect(
    await fresh(replayOf([{ type: 'text-delta', text: 'a' }, title, { type: 'text-delta', text: 'b' }, own]), said, 1),
  ).toEqual([])
  const replay = replayOf([text, title])
  expect(await fresh(replay, said, 1)).toEqual([own])
})

test('16.3 an event that was cut in the log is the same one, whole', async () => {
  const large: AgentSignal = {
    type: 'tool-result',
    toolCallId: 't',
    status: 'completed',
    output: 'x'.repeat(9 << 20),
  }
  expect(await fresh(replayOf([large]), [large], 1)).toEqual([])
})

test('16.3 when all that was kept came again, nothing more is compared, also of an agent without stderr', async () => {
  const said: AgentSignal[] = [{ type: 'text-delta', text: 'ab' }]
  const replay = replayOf(said)
  await fresh(replay, said, 1)
  expect(replay.isOver).toBe(false)
  await replay.finish()
  expect(replay.isOver).toBe(true)
})

test('16.3 stderr of which the log has more is compared after the rest is new', async () => {
  const late: AgentSignal = { type: 'output', stream: 'stderr', text: 'late' }
  const more: AgentSignal = { type: 'text-delta', text: 'more' }
  const replay = replayOf([late])
  await replay.finish()
  expect(replay.isOver).toBe(false)
  expect(await fresh(replay, [more, late], 1)).toEqual([more])
  expect(replay.isOver).toBe(true)
})
