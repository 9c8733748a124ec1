import type { SessionStateName } from '@agentproto/contracts'
import { columnsOf, cut } from '../render/fit.js'
import type { Frame } from '../render/paint.js'

interface CountsView extends Frame {
  readonly states: Readonly<Record<SessionStateName, number>>
  /** Which rows are shown; empty when all are. */
  readonly place: string
}

/** The header of the cockpit: `3 need you · 12 working · 25 idle`, and at the right which rows are shown. */
export function countsLine({ states, place, width, paint }: CountsView): string {
  const { waiting, busy, starting, idle, asleep, unreachable, failed, ended } = states
  const first = `${waiting} need${waiting === 1 ? 's' : ''} you`
  const others = [
    `${busy + starting} working`,
    `${idle} idle`,
    ...(unreachable === 0 ? [] : [`${unreachable} unreachable`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(asleep === 0 ? [] : [`${asleep} asleep`]),
    ...(ended === 0 ? [] : [`${ended} ended`]),
  ].join(' · ')
  const rest = cut(` · ${others}`, width - columnsOf(first))
  const gap = width - columnsOf(first) - columnsOf(rest) - columnsOf(place)
  return `${waiting > 0 ? paint.yellow(first) : first}${rest}${gap >= 2 && place !== '' ? ' '.repeat(gap) + paint.dim(place) : ''}`
}
