import { type Session, SESSION_STATES, type SessionStateName, summaryOf } from '@agentproto/contracts'
import { hasEndedBefore, matchesFilter, type SessionFilter } from '@agentproto/contracts/wire'
import { cut } from '../render/fit.js'
import type { Frame } from '../render/paint.js'
import { oneLine } from '../render/printable.js'
import { inOrder, RANK, type SessionOrder } from '../render/session-order.js'
import { layoutSessions } from '../render/sessions-table.js'
import type { TableLayout } from '../render/table.js'

/** What the list is divided by; `g` steps through them in this order. */
const GROUPINGS = ['none', 'workspace', 'state', 'host'] as const
export type Grouping = (typeof GROUPINGS)[number]

export interface ListFrame extends Frame {
  readonly height: number
  /** Milliseconds since the epoch. */
  readonly now: number
}

interface SessionListOptions {
  readonly order: SessionOrder
  /** Which sessions are listed, at a time in milliseconds since the epoch. */
  readonly filterAt: (now: number) => SessionFilter
}

/** A row: a session, or the title of a group. */
type Item = { readonly session: Session } | { readonly title: string }

/** How many sessions have each state, and how many ended long ago and are hidden. The filter text has no influence. */
export interface Counts {
  readonly states: Readonly<Record<SessionStateName, number>>
  readonly hidden: number
}

interface Layout {
  readonly key: string
  readonly counts: Counts
  readonly items: readonly Item[]
  readonly table: TableLayout<Session>
}

/** Ages, and what a filter says of them, are as old as this, in milliseconds. */
const AGE_MS = 1_000

/**
 * The sessions of the cockpit: which are listed, in which order, which rows fit and which is selected. The selection stays on
 * its session and its row, whatever happens to the others, and changes only with a key or when its session is gone.
 */
export class SessionList {
  readonly #filterAt: SessionListOptions['filterAt']
  readonly #sessions = new Map<string, Session>()
  readonly #notes = new Map<string, string>()
  #order: SessionOrder
  #grouping: Grouping = 'none'
  #text = ''
  #version = 0
  #layout: Layout | undefined
  /** As it was drawn last: keys are about what is seen. */
  #selectedId: string | undefined
  #index = 0
  #row = 0
  #room = 1
  #visible: readonly Session[] = []

  constructor({ order, filterAt }: SessionListOptions) {
    this.#order = order
    this.#filterAt = filterAt
  }

  get order(): SessionOrder {
    return this.#order
  }

  set order(order: SessionOrder) {
    this.#order = order
    this.#version += 1
  }

  get grouping(): Grouping {
    return this.#grouping
  }

  /** By host only where the sessions are of several. */
  get nextGrouping(): Grouping {
    const [first, ...others] = this.#sessions.values()
    const isFleet = others.some(({ hostId }) => hostId !== first?.hostId)
    const groupings = GROUPINGS.filter((each) => each !== 'host' || isFleet)
    return groupings[(groupings.indexOf(this.#grouping) + 1) % groupings.length] ?? 'none'
  }

  set grouping(grouping: Grouping) {
    this.#grouping = grouping
    this.#version += 1
  }

  /** Words that a session must have in its label, title, workspace, agent, state, branch or id. */
  get text(): string {
    return this.#text
  }

  set text(text: string) {
    this.#text = text
    this.#version += 1
  }

  /** The filter was changed. */
  refilter(): void {
    this.#version += 1
  }

  put(session: Session): void {
    // A gateway of an older version does not send what is derived.
    this.#sessions.set(session.id, session.state === 'unreachable' ? session : { ...session, ...summaryOf(session) })
    this.#version += 1
  }

  forget(id: string): void {
    this.#sessions.delete(id)
    this.#notes.delete(id)
    this.#version += 1
  }

  /** What a session asks or wrote last. */
  setNote(id: string, note: string | undefined): void {
    if (note === undefined || !this.#sessions.has(id)) this.#notes.delete(id)
    else this.#notes.set(id, note)
    this.#version += 1
  }

  get(id: string): Session | undefined {
    return this.#sessions.get(id)
  }

  /** The session that was drawn as selected, as it is now. Undefined for none, and when it was removed since. */
  get selected(): Session | undefined {
    return this.#selectedId === undefined ? undefined : this.#sessions.get(this.#selectedId)
  }

  /** The sessions whose rows were drawn. */
  get visible(): readonly Session[] {
    return this.#visible
  }

  /** Selects the session that is so many sessions below, or above, the selected one. */
  move(step: number): void {
    const sessions = this.#listed
    const at = sessions.findIndex(({ id }) => id === this.#selectedId)
    this.#select(sessions[Math.max(0, Math.min(sessions.length - 1, at + step))])
  }

  /** A page is what fits on the screen. */
  movePage(direction: -1 | 1): void {
    this.move(direction * Math.max(1, this.#room - 1))
  }

  moveTo(place: 'first' | 'last'): void {
    this.#select(place === 'first' ? this.#listed[0] : this.#listed.at(-1))
  }

  /** Selects the next listed session that waits for a person, from the selected one on. @returns false for none */
  moveToWaiting(): boolean {
    const sessions = this.#listed
    const at = sessions.findIndex(({ id }) => id === this.#selectedId)
    const next = [...sessions.slice(at + 1), ...sessions.slice(0, at + 1)].find(({ state }) => state === 'waiting')
    if (next !== undefined) this.#select(next)
    return next !== undefined
  }

  /** The titles and the rows that fit, and which they are. Only what is visible is rendered. */
  view(frame: ListFrame): { readonly rows: readonly string[]; readonly place: string; readonly counts: Counts } {
    const { paint, width, height } = frame
    const { items, table, counts } = this.#layoutFor(frame)
    this.#room = Math.max(1, height - 1)
    const top = this.#place(items)
    const shown = items.slice(top, top + this.#room)
    this.#visible = shown.flatMap((item) => ('session' in item ? [item.session] : []))
    const rows = shown.map((item) => this.#itemRow(item, table, frame))
    return {
      rows: [paint.bold(cut(`  ${table.titles}`, width)), ...rows],
      counts,
      place: items.length > shown.length ? `${top + 1}–${top + shown.length} of ${items.length} rows` : '',
    }
  }

  #itemRow(item: Item, table: TableLayout<Session>, { paint, width }: ListFrame): string {
    if ('title' in item) return paint.bold(cut(item.title, width))
    return item.session.id === this.#selectedId
      ? paint.bold(`❯ ${table.line(item.session)}`)
      : `  ${table.line(item.session)}`
  }

  /** Finds the selected row, or another if it is gone, and keeps it where it is on the screen. @returns the first row to draw */
  #place(items: readonly Item[]): number {
    const found = items.findIndex((item) => 'session' in item && item.session.id === this.#selectedId)
    this.#index = found >= 0 ? found : nearestSession(items, this.#index)
    const item = items[this.#index]
    this.#selectedId = item !== undefined && 'session' in item ? item.session.id : undefined
    this.#row = Math.max(0, Math.min(this.#row, this.#room - 1))
    const top = Math.max(0, Math.min(this.#index - this.#row, items.length - this.#room))
    this.#row = Math.max(0, this.#index - top)
    return top
  }

  #select(session: Session | undefined): void {
    if (session === undefined) return
    const index = (this.#layout?.items ?? []).findIndex((item) => 'session' in item && item.session.id === session.id)
    this.#selectedId = session.id
    this.#row += index - this.#index
    this.#index = index
  }

  /** In the order in which they were drawn. */
  get #listed(): readonly Session[] {
    return (this.#layout?.items ?? []).flatMap((item) => ('session' in item ? [item.session] : []))
  }

  #layoutFor({ width, paint, now }: ListFrame): Layout {
    const key = [this.#version, width, Math.floor(now / AGE_MS)].join()
    if (this.#layout?.key === key) return this.#layout
    const filter = this.#filterAt(now)
    const inFilter = [...this.#sessions.values()].filter((session) => matchesFilter(session, filter))
    const current = inFilter.filter((session) => !hasEndedBefore(session, filter.endedSince))
    const counts = { states: statesOf(current), hidden: inFilter.length - current.length }
    const order = this.#order
    const sessions = inOrder(this.#searched(current), order)
    const table = layoutSessions({ sessions, order, now, width: width - 2, paint, notes: this.#notes })
    this.#layout = { key, counts, items: itemsOf(sessions, this.#grouping), table }
    return this.#layout
  }

  #searched(sessions: readonly Session[]): readonly Session[] {
    const words = this.#text.toLowerCase().split(/\s+/).filter(Boolean)
    if (words.length === 0) return sessions
    return sessions.filter((session) => words.every((word) => searchedText(session).includes(word)))
  }
}

function statesOf(sessions: readonly Session[]): Counts['states'] {
  const states: Record<SessionStateName, number> = {
    starting: 0,
    busy: 0,
    waiting: 0,
    idle: 0,
    asleep: 0,
    unreachable: 0,
    ended: 0,
    failed: 0,
  }
  for (const { state } of sessions) states[state] += 1
  return states
}

const searchedText = ({ id, label, title, workspaceSlug, adapterSlug, state, hostId, worktree }: Session): string =>
  oneLine([id, label, title, workspaceSlug, adapterSlug, state, hostId, worktree?.branch].join(' ')).toLowerCase()

function itemsOf(sessions: readonly Session[], grouping: Grouping): Item[] {
  if (grouping === 'none') return sessions.map((session) => ({ session }))
  const groups = new Map<string, Session[]>()
  for (const session of sessions) {
    const name = session[GROUP_MEMBER[grouping]]
    groups.set(name, [...(groups.get(name) ?? []), session])
  }
  const compare = grouping === 'state' ? byRank : byName
  return [...groups]
    .toSorted(([a], [b]) => compare(a, b))
    .flatMap(([name, members]) => [
      { title: `${oneLine(name)} · ${members.length}` },
      ...members.map((session) => ({ session })),
    ])
}

const GROUP_MEMBER = { workspace: 'workspaceSlug', state: 'state', host: 'hostId' } as const satisfies Record<
  Exclude<Grouping, 'none'>,
  keyof Session
>

const byName = (a: string, b: string): number => a.localeCompare(b)
const rankOf = (name: string): number => {
  const state = SESSION_STATES.find((each) => each === name)
  return state === undefined ? 0 : RANK[state]
}
const byRank = (a: string, b: string): number => rankOf(a) - rankOf(b)

/** The index of a session at or after this one, else of the last one before it. */
function nearestSession(items: readonly Item[], index: number): number {
  const after = items.findIndex((item, at) => at >= index && 'session' in item)
  return after >= 0
    ? after
    : Math.max(
        0,
        items.findLastIndex((item) => 'session' in item),
      )
}
