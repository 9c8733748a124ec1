// The user of one session: prompts, queues, steers, interrupts and configures it, whatever happens to the gateway.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { callUntilAnswered } from './daemon.mjs'
import { DELEGATION, KIND_NAMES, KINDS, tokenOf } from './prompts.mjs'

let tokens = 0

export class KeptUser {
  /** Prompts that were accepted: token → turn. */
  accepted = new Map()
  /** Tokens of turns that may have been interrupted. */
  maybeCut = new Set()
  /** The model that was set last. */
  model
  #isFinished = false

  static async start({ current, root, name, random, fault, delegates }) {
    const cwd = join(root, name)
    if (!existsSync(cwd)) mkdirSync(cwd)
    const { id } = await current().call('POST', '/sessions/agent', {
      adapter: 'demo',
      cwd,
      label: name,
      ...(delegates ? { delegation: { maxChildren: 60 } } : {}),
    })
    return new KeptUser({ current, id, cwd, random, fault, delegates })
  }

  constructor({ current, id, cwd, random, fault, delegates }) {
    Object.assign(this, { id, cwd })
    this.current = current
    this.random = random
    this.kinds = delegates ? ['delegate', ...KIND_NAMES] : KIND_NAMES
    this.fault = fault
  }

  /** Ends after the turn that runs. */
  finish() {
    this.#isFinished = true
  }

  /** One round after the other, until it is finished and all its turns have ended. */
  async work() {
    while (!this.#isFinished) {
      const turn = await this.#prompt('queue')
      const act = this.random()
      if (act < 0.3) await this.#prompt('queue')
      else if (act < 0.4) await this.#steer()
      else if (act < 0.5) await this.#interrupt(turn)
      else if (act < 0.6) await this.#configure()
      if (act < 0.95) await this.#ended(Math.max(...this.accepted.values()))
    }
    await this.#ended(Math.max(...this.accepted.values()))
  }

  async #prompt(whenBusy) {
    const kind = this.kinds[Math.floor(this.random() * this.kinds.length)]
    const token = tokenOf((tokens += 1), kind)
    const body = { prompt: (KINDS[kind] ?? DELEGATION)(token), whenBusy, idempotencyKey: token }
    try {
      const { turn } = await this.#call('POST', '/prompt', body)
      this.accepted.set(token, turn)
      return turn
    } catch (error) {
      if (error.code !== 'queue_full') this.fault(`${this.id}: prompt ${token} was refused: ${error.message}`)
    }
  }

  async #steer() {
    this.#cutOpenTurns()
    await this.#prompt('interrupt')
  }

  async #interrupt(turn) {
    this.#cutOpenTurns()
    await this.#pause(300)
    await this.#call('POST', '/interrupt', turn === undefined ? {} : { turn })
  }

  async #configure() {
    const model = this.random() < 0.5 ? 'demo-1' : 'demo-2'
    try {
      await this.#call('POST', '/config', { model })
      this.model = model
    } catch (error) {
      this.fault(`${this.id}: ${model} was refused: ${error.message}`)
    }
  }

  /** What was set last is what the session has. */
  async checkModel() {
    const { config } = await this.#call('GET', '')
    if (this.model !== undefined && config.modelId !== this.model)
      this.fault(`${this.id}: the model is ${config.modelId} in place of ${this.model}`)
  }

  async #ended(turn) {
    for (;;) {
      const { state } = await this.#call('GET', `/turns/${turn}?waitSeconds=5`)
      if (state === 'ended') return
    }
  }

  /** What has not ended may be cut. */
  #cutOpenTurns() {
    for (const token of [...this.accepted.keys()].slice(-12)) this.maybeCut.add(token)
  }

  #call(method, path, body) {
    return callUntilAnswered(this.current, { method, path: `/sessions/${this.id}${path}`, body })
  }

  #pause(ms) {
    return new Promise((resolve) => setTimeout(resolve, this.random() * ms))
  }
}
