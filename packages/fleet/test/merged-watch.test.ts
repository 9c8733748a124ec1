import type { Session } from '@agentproto/contracts'
import type { Reader, SessionChange, SessionWatcher } from '@agentproto/contracts/wire'
import { expect, test } from 'vitest'
import type { FleetView } from '../src/services/fleet-services-options.js'
import { MergedWatch, PENDING_MAX } from '../src/services/merged-watch.js'

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
