import type { Host } from '@agentproto/contracts/wire'
import { isCtrl, type Key } from './attach/keyboard.js'
import { QUIT } from './cockpit/cockpit-keys.js'
import { cut } from './render/fit.js'
import { layoutHosts } from './render/hosts-table.js'
import type { Frame } from './render/paint.js'
import { oneLine } from './render/printable.js'

interface HostsFrame extends Frame {
  readonly height: number
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** The screen of `hosts --watch`: hosts and keys in, rows out. It has no terminal and calls nothing. */
export class HostsScreen {
  #hosts: readonly Host[]
  #problem: string | undefined
  /** The first host that is shown. */
  #top = 0
  #room = 1

  constructor(hosts: readonly Host[]) {
    this.#hosts = hosts
  }

  show(hosts: readonly Host[]): void {
    this.#hosts = hosts
    this.#problem = undefined
  }

  /** Why the hosts could not be read; those that were read last stay. */
  fail(problem: string): void {
    this.#problem = problem
  }

  /** @returns whether the person leaves */
  key(key: Key): boolean {
    this.#top += steps(key, this.#room)
    return key.name === 'q' || key.name === 'escape' || isCtrl(key, 'c')
  }

  rows({ height, width, paint, now }: HostsFrame): string[] {
    this.#room = Math.max(1, height - 2)
    this.#top = Math.max(0, Math.min(this.#top, this.#hosts.length - this.#room))
    const { titles, line } = layoutHosts({ hosts: this.#hosts, now, width, paint })
    const shown = this.#hosts.slice(this.#top, this.#top + this.#room).map(line)
    const foot = this.#problem === undefined ? paint.dim(cut(this.#foot, width)) : paint.red(cut(this.#problem, width))
    return [paint.bold(titles), ...shown, foot].slice(-height)
  }

  get #foot(): string {
    const { length } = this.#hosts
    const lost = this.#hosts
      .filter(({ reachable, stopped }) => !reachable && stopped !== true)
      .map(({ name }) => oneLine(name))
    const isCut = length > this.#room
    return [
      QUIT,
      ...(isCut ? [`${this.#top + 1}–${this.#top + this.#room} of ${length}, ↑↓ scroll`] : []),
      ...(lost.length === 0 ? [] : [`${lost.length} unreachable: ${lost.join(', ')}`]),
    ].join(' · ')
  }
}

/** By how many hosts a key scrolls down. */
function steps({ name }: Key, page: number): number {
  switch (name) {
    case 'up':
    case 'k':
      return -1
    case 'down':
    case 'j':
      return 1
    case 'pageup':
      return -page
    case 'pagedown':
    case 'space':
      return page
    case 'home':
      return -Number.MAX_SAFE_INTEGER
    case 'end':
      return Number.MAX_SAFE_INTEGER
    default:
      return 0
  }
}
