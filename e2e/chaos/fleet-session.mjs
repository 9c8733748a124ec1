// A session of a fleet, the user who prompts it through other hosts, and the reader that follows it there.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { callUntilAnswered } from './daemon.mjs'
import { faultsOf, linesIn, lostByMoves } from './fleet-check.mjs'
import { pause, pick } from './fleet-faults.mjs'
import { followSession } from './follower.mjs'
import { agentPids } from './processes.mjs'
import { KINDS, tokenOf } from './prompts.mjs'
import { logOf } from './session-check.mjs'

/** What is tried again. */
const AWAY = new Set(['host_unreachable', 'cluster_unavailable', 'timeout'])
/** What a session that may move can answer while its host is lost: its turn, its agent or its conversation is gone. */
const CUT = new Set(['turn_not_found', 'session_ended', 'not_resumable', 'session_live', 'prompt_rejected'])
/** One turn in so many is a fast one. */
const FAST = 20
/** For what is under way: a reader that is behind, a log that is being published. In milliseconds. */
const SETTLE_MS = 60_000

let prompts = 0

export class FleetSession {
  static kinds = ['slow', 'fast']
  #options
  #isFinished = false
  #tokens = new Map()
  #follower
  #pids
  #lines = []

  /** @param options `hosts`, `number`, `mayMove`, `random`, `fault` */
  static async start(options) {
    const { hosts, number, mayMove } = options
    const owner = hosts[number % hosts.length]
    const cwd = join(owner.folder, `session-${number}`)
    mkdirSync(cwd)
    const place = mayMove ? { workspaceSlug: 'shop', onHostLoss: 'move' } : { cwd }
    const { id } = await owner.daemon.call('POST', '/sessions/agent', { adapter: 'demo', ...place })
    return new FleetSession({ ...options, owner, cwd, id })
  }

  constructor(options) {
    const { hosts, owner, number, mayMove, id } = options
    this.#options = { ...options, others: hosts.filter((host) => host !== owner) }
    this.#pids = agentPids(owner.folder, id)
    // The reader is at one other host for the whole run. Of a session that moves it may have read what was never published.
    const reader = this.#options.others[number % this.#options.others.length]
    if (!mayMove) this.#follower = followSession(id, () => reader.daemon)
  }

  finish() {
    this.#isFinished = true
  }

  /** One turn after the other, until it is finished. */
  async work() {
    const { id, mayMove, fault, random } = this.#options
    while (!this.#isFinished) {
      const kind = random() < 1 / FAST ? 'fast' : 'slow'
      try {
        await this.#turn(tokenOf((prompts += 1), kind), KINDS[kind])
      } catch (error) {
        if (!mayMove || !CUT.has(error.code)) return fault(`${id}: ${error.code}: ${error.message}`)
        await pause(200)
        await this.#revive()
      }
    }
  }

  async #turn(token, prompt) {
    const { id } = this.#options
    const body = { prompt: prompt(token), idempotencyKey: token, whenBusy: 'queue' }
    const { turn } = await this.#answered('POST', `/sessions/${id}/prompt`, body)
    this.#tokens.set(token, turn)
    while (
      (await this.#answered('GET', `/sessions/${id}/turns/${turn}?waitSeconds=5`)).state !== 'ended' &&
      !(this.#isFinished && this.#options.mayMove)
    );
  }

  /** A session that has ended with its host goes on with a new conversation. */
  async #revive() {
    const { id } = this.#options
    await this.#answered('POST', `/sessions/${id}/resume`, { fresh: true }).catch(() => undefined)
  }

  /** By one of the other hosts, over any absence of it and of the owner. */
  async #answered(method, path, body) {
    const { others, random } = this.#options
    const host = pick(others, random)
    for (;;) {
      try {
        return await callUntilAnswered(() => host.daemon, { method, path, body })
      } catch (error) {
        if (!AWAY.has(error.code)) throw error
        await pause(200)
      }
    }
  }

  /**
   * Ends the session, and compares what each host, the servers and the reader have of it.
   * @returns `turns`, `events`, `moves`, and `lost`: how many events were never published before their host was lost
   */
  async check({ calm, stored }) {
    const { id, hosts, cwd, mayMove } = this.#options
    const owner = await this.#checkedOwner()
    if (!mayMove) this.#checkAgent()
    await owner.daemon.call('POST', `/sessions/${id}/kill`, {})
    this.#lines = await linesAt(owner.daemon, id)
    const copies = new Map()
    for (const host of hosts.filter((each) => each !== owner)) copies.set(host.name, await linesAt(host.daemon, id))
    const messages = await settled(
      () => stored.of(id),
      (all) => linesIn(all).length >= this.#lines.length,
    )
    const reader = this.#follower
    await settled(
      () => reader,
      () => reader === undefined || reader.last >= this.#lines.length,
    )
    if (reader !== undefined) reader.stopped = true
    const session = { id, cwd, mayMove, lines: this.#lines, tokens: this.#tokens, calm }
    this.#report(faultsOf({ ...session, copies, reader, stored: messages }))
    return {
      turns: this.#lines.filter((line) => JSON.parse(line).type === 'turn-end').length,
      events: this.#lines.length,
      moves: messages.filter(({ kind }) => kind === 'owner').length,
      lost: lostByMoves(messages).reduce((sum, { first, last }) => sum + last - first + 1, 0),
    }
  }

  /** While a host is away, the others have the log of its sessions from the fleet. */
  async checkWithout(away) {
    const { id, hosts, cwd } = this.#options
    for (const { name, daemon } of hosts.filter((host) => host !== away)) {
      const copy = await linesAt(daemon, id)
      const isSame = copy.length === this.#lines.length && copy.every((line, at) => line === this.#lines[at])
      if (!isSame) this.#report([`${name}, without ${away.name}, has ${copy.length} other lines of its log in ${cwd}`])
    }
  }

  /** All hosts say the same about whose it is. */
  async #checkedOwner() {
    const { id, hosts, owner, mayMove } = this.#options
    const said = await settled(
      () => Promise.all(hosts.map(async ({ daemon }) => (await daemon.call('GET', `/sessions/${id}`)).hostId)),
      (names) => new Set(names).size === 1,
    )
    if (new Set(said).size > 1) this.#report([`its hosts are ${said.join(', ')}`])
    if (!mayMove && said[0] !== owner.name) this.#report([`it is a session of ${said[0]}`])
    return hosts.find(({ name }) => name === said[0]) ?? owner
  }

  /** The process with which it began. */
  #checkAgent() {
    const { id, owner } = this.#options
    const now = agentPids(owner.folder, id)
    if (this.#pids.length === 0 || this.#pids.some((pid) => !now.includes(pid)))
      this.#report([`its agent is ${now.join()} in place of ${this.#pids.join()}`])
  }

  #report(faults) {
    const { id, owner, mayMove, fault } = this.#options
    for (const each of faults) fault(`${id} of ${owner.name}${mayMove ? ', which may move' : ''}: ${each}`)
  }
}

async function linesAt(daemon, id) {
  const lines = []
  for await (const line of logOf(daemon, id)) lines.push(line)
  return lines
}

/** Asks until it is so, or for too long: the caller compares. */
async function settled(ask, isSo) {
  const end = Date.now() + SETTLE_MS
  for (;;) {
    const answer = await ask()
    if (isSo(answer) || Date.now() > end) return answer
    await pause(200)
  }
}
