import type { Session } from '@agentproto/contracts'
import {
  PENDING_CHANGES_MAX as PENDING_MAX,
  type Reader,
  type SessionChange,
  type SessionWatcher,
} from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import type { FleetView } from '../src/services/fleet-services-options.js'
import { MergedWatch } from '../src/services/merged-watch.js'

test('as many sessions as a lost host may have at once are all reported, each once', async () => {
  const { watch, copy } = watched()
  copy.give([...idsUpTo(PENDING_MAX), ...idsUpTo(PENDING_MAX)])
  expect(await idsOf(watch)).toEqual(idsUpTo(PENDING_MAX))
  copy.give(['s1'])
  expect(await idsOf(watch)).toEqual(['s1'])
  watch.close()
})

test('more than a watch can hold end it, so that its reader lists the sessions again', async () => {
  const { watch, copy, own } = watched()
  copy.give(idsUpTo(PENDING_MAX + 1))
  expect(await watch.next()).toBeUndefined()
  expect(await watch.next()).toBeUndefined()
  expect([copy.isClosed, own.isClosed]).toEqual([true, true])
  expect(watch.fellBehind).toBe(true)
})

test('a watch ends with that of its own sessions, and says whether changes are missing', async () => {
  for (const fellBehind of [true, false]) {
    const { watch, own } = watched()
    own.give([{ type: 'forgotten', id: 's1' }])
    expect(await idsOf(watch)).toEqual(['s1'])
    own.fellBehind = fellBehind
    own.close()
    expect(await watch.next()).toBeUndefined()
    expect(watch.fellBehind).toBe(fellBehind)
  }
})

const idsUpTo = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `s${n}`)

async function idsOf(watch: SessionWatcher): Promise<readonly string[] | undefined> {
  const changes = await watch.next()
  return changes?.map((change) => (change.type === 'session' ? change.session.id : change.id))
}

function watched() {
  const [copy, own] = [new Given<readonly string[]>(), new Given<readonly SessionChange[]>()]
  const view = { watch: () => copy, session: (id: string) => ({ owner: 'lost', id }) } as unknown as FleetView
  const shown = (id: string): Session => ({ id }) as Session
  const watch = new MergedWatch({ host: 'here', view, own, within: undefined, shown })
  return { watch, copy, own }
}

/** A reader of what the test gives. */
class Given<T> implements Reader<T> {
  readonly #values: T[] = []
  #wake: () => void = () => undefined
  isClosed = false
  fellBehind = false

  give(value: T): void {
    this.#values.push(value)
    this.#wake()
  }

  async next(): Promise<T | undefined> {
    while (this.#values.length === 0 && !this.isClosed) await new Promise<void>((resolve) => (this.#wake = resolve))
    return this.#values.shift()
  }

  close(): void {
    this.isClosed = true
    this.#wake()
  }
}
