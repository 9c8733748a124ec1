import { AgentprotoError, type Clock, parseJson } from '@agentproto/contracts'
import { BEGIN_WITHIN_MS, MAX_RESULT_BYTES, type Outcome, type RequestFrame } from './call-frame.js'
import { EndedCalls, REMEMBERED_MS } from './ended-calls.js'
import { FedText } from './fed-text.js'
import { PeerArguments } from './peer-arguments.js'
import { PEER_BOUNDS, TOO_LARGE } from './peer-bounds.js'
import { PeerReaders } from './peer-readers.js'
import type { SharedServices } from './places.js'
import { OpenCall, type Respond } from './open-call.js'
import { hasEffect, problemOf, runMethod } from './run-method.js'

/** A result that was not fetched, arguments that were not completed and a reader that was not asked for are dropped, in milliseconds. */
const KEPT_MS = 60_000

type Frame<K extends RequestFrame['kind']> = Extract<RequestFrame, { readonly kind: K }>

interface Feed {
  readonly text: FedText
  taken: OpenCall | undefined
  seq: number
}

export interface PeerOptions {
  /** The other host. */
  readonly host: string
  readonly own: SharedServices
  readonly clock: Clock
  /** Bytes of a body that one message takes. */
  readonly partBytes: number
  readonly onError: (error: unknown) => void
  /** Whether this host may run a session now. */
  readonly mayRun: (sessionId: string) => boolean
}

/** What one other host has called here. */
export class PeerCalls {
  readonly #options: PeerOptions
  readonly #calls = new Map<string, OpenCall>()
  readonly #stops = new Map<string, { readonly method: string; readonly stop: AbortController }>()
  readonly #feeds = new Map<string, Feed>()
  readonly #readers: PeerReaders
  readonly #arguments = new PeerArguments(() => this.#now())
  readonly #ended = new EndedCalls(() => this.#now())
  #heldBytes = 0
  heardAt: number

  constructor(options: PeerOptions) {
    this.#options = options
    this.#readers = new PeerReaders({
      now: () => this.#now(),
      newCall: () => this.#newCall(),
      finish: (call, outcome) => this.#finish(call, outcome),
      problemOf: (thrown) => problemOf(thrown, options.onError),
    })
    this.heardAt = options.clock.now()
  }

  get openReaders(): number {
    return this.#readers.size
  }

  handle(frame: RequestFrame, body: Uint8Array, respond: Respond): void {
    this.heardAt = this.#now()
    for (const id of frame.acks ?? []) this.#end(id)
    switch (frame.kind) {
      case 'call':
        return this.#begin(frame, body, respond)
      case 'put':
        return this.#put(frame, body, respond)
      case 'wait':
        return this.#wait(frame, respond)
      case 'part':
        return this.#part(frame, respond)
      case 'next':
        return this.#readers.next(frame.id, frame.seq, respond)
      case 'feed':
        return this.#feed(frame, body, respond)
      case 'cancel':
        return this.#cancel(frame.id, respond)
      case 'alive':
        return this.#alive(body, respond)
    }
  }

  /** Drops what the other host has not asked for. @returns whether nothing of it is left */
  sweep(): boolean {
    const before = this.#now() - KEPT_MS
    for (const [id, { askedAt, finishedAt }] of this.#calls) {
      if (finishedAt !== undefined && Math.max(finishedAt, askedAt) < before) this.#end(id)
      else if (askedAt < before) this.#abandon(id)
    }
    this.#readers.sweep(before)
    this.#arguments.sweep(before)
    this.#ended.forget()
    return this.heardAt < before && this.#calls.size === 0 && this.#ended.isEmpty
  }

  /** Ends every reader, and every call that changes nothing. */
  close(): void {
    this.#readers.closeAll()
    for (const id of this.#stops.keys()) this.#abandon(id)
    for (const call of this.#calls.values()) call.drop()
  }

  #begin(frame: Frame<'call'>, body: Uint8Array, respond: Respond): void {
    const { id, begun, parts } = frame
    const known = this.#calls.get(id)
    if (known !== undefined) return known.answer(respond)
    if (this.#ended.has(id) || begun + BEGIN_WITHIN_MS < this.#now()) return respond({ state: 'unknown' })
    const refused = this.#refusal()
    if (refused !== undefined) return this.#answerOnce({ problem: refused.toProblem() }, respond)
    const given = parts === 0 ? body : this.#arguments.take(id)
    if (given === undefined) return respond({ state: 'unknown' })
    const call = this.#newCall()
    this.#calls.set(id, call)
    call.answer(respond)
    void this.#run(frame, call, Buffer.from(given).toString('utf8'))
  }

  async #run({ id, method, from }: Frame<'call'>, call: OpenCall, text: string): Promise<void> {
    const stop = new AbortController()
    this.#stops.set(id, { method, stop })
    const feed: Feed = { text: new FedText(), taken: undefined, seq: 0 }
    this.#feeds.set(id, feed)
    const { own, clock, mayRun } = this.#options
    try {
      const given = parseJson(text)
      const request = { method, from, clock, given, signal: stop.signal, text: feed.text, mayRun }
      const { outcome, reader } = await runMethod(own, request)
      this.#finish(call, reader === undefined ? outcome : this.#readers.open(id, reader, outcome))
    } catch (thrown) {
      this.#finish(call, problemOf(thrown, this.#options.onError))
    } finally {
      this.#heldBytes += call.bytes
      feed.text.end()
      this.#feeds.delete(id)
      this.#stops.delete(id)
      this.#dropOldest()
    }
  }

  #refusal(): AgentprotoError | undefined {
    const { calls, ended } = PEER_BOUNDS
    if (this.#calls.size < calls && this.#ended.hasRoom()) return undefined
    return new AgentprotoError('request_limit_reached', 'The host answers too many calls of this host', {
      expected: `at most ${calls} open calls, and ${ended} calls in ${REMEMBERED_MS / 1_000} s`,
      hint: 'Try again later',
    })
  }

  #put(frame: Frame<'put'>, body: Uint8Array, respond: Respond): void {
    if (this.#calls.has(frame.id) || this.#ended.has(frame.id)) return respond({ state: 'taken' })
    const state = this.#arguments.put(frame, body)
    if (state === 'too_large') this.#answerOnce(TOO_LARGE, respond)
    else respond({ state })
  }

  #wait({ id, seq }: Frame<'wait'>, respond: Respond): void {
    const call = this.#callOf(id, seq)
    if (call === undefined) return respond({ state: 'unknown' })
    call.answer(respond)
  }

  #part({ id, seq, at }: Frame<'part'>, respond: Respond): void {
    const part = this.#callOf(id, seq)?.part(at)
    if (part === undefined) return respond({ state: 'unknown' })
    respond({ state: 'part' }, part)
  }

  /** `seq` is 0 for the call itself. */
  #callOf(id: string, seq: number): OpenCall | undefined {
    return seq === 0 ? this.#calls.get(id) : this.#readers.callOf(id, seq)
  }

  #feed({ id, seq, last }: Frame<'feed'>, body: Uint8Array, respond: Respond): void {
    const feed = this.#feeds.get(id)
    if (feed === undefined) return respond({ state: this.#calls.has(id) ? 'taken' : 'unknown' })
    if (seq === feed.seq + 1 && (feed.taken === undefined || feed.taken.isFinished)) {
      const taken = this.#newCall()
      feed.seq = seq
      feed.taken = taken
      const piece = Buffer.from(body).toString('utf8')
      void feed.text.put(piece, last).then(() => taken.finish(EMPTY))
    }
    if (seq !== feed.seq || feed.taken === undefined) return respond({ state: 'unknown' })
    feed.taken.answer(respond)
  }

  #cancel(id: string, respond: Respond): void {
    this.#readers.close(id)
    this.#abandon(id)
    respond({ state: 'taken' })
  }

  #alive(body: Uint8Array, respond: Respond): void {
    const named: unknown = parseJson(Buffer.from(body).toString('utf8'))
    this.#readers.keep(new Set(Array.isArray(named) ? named : []))
    respond({ state: 'taken' })
  }

  /** The caller is gone: what changes something goes on to its end. */
  #abandon(id: string): void {
    const running = this.#stops.get(id)
    if (running === undefined) return
    if (!hasEffect(running.method)) running.stop.abort()
    this.#feeds.get(id)?.text.end()
  }

  #newCall(): OpenCall {
    return new OpenCall(this.#options)
  }

  #finish(call: OpenCall, outcome: Outcome): void {
    const bytes = Buffer.from(JSON.stringify(outcome))
    call.finish(bytes.length <= MAX_RESULT_BYTES ? bytes : Buffer.from(JSON.stringify(TOO_LARGE)))
  }

  /** Answers without remembering: nothing was done. */
  #answerOnce(outcome: Outcome, respond: Respond): void {
    const call = this.#newCall()
    this.#finish(call, outcome)
    call.answer(respond)
  }

  /** The result has arrived, or is not waited for: only that the call has run is remembered. */
  #end(id: string): void {
    const call = this.#calls.get(id)
    if (call?.isFinished !== true) return
    call.drop()
    this.#heldBytes -= call.bytes
    this.#calls.delete(id)
    this.#ended.add(id)
  }

  #dropOldest(): void {
    if (this.#heldBytes <= PEER_BOUNDS.heldBytes) return
    for (const [id, call] of this.#calls) {
      if (call.isFinished) this.#end(id)
      if (this.#heldBytes <= PEER_BOUNDS.heldBytes) return
    }
  }

  #now(): number {
    return this.#options.clock.now()
  }
}

const EMPTY = Buffer.from('{}')
