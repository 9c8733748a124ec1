import { AgentprotoError, type Clock, parseJson } from '@agentproto/contracts'
import { ArgumentParts } from './argument-parts.js'
import {
  BEGIN_WITHIN_MS,
  CLOCK_DIFFERENCE_MS,
  MAX_ARGUMENT_BYTES,
  MAX_RESULT_BYTES,
  type Outcome,
  type RequestFrame,
} from './call-frame.js'
import { FedText } from './fed-text.js'
import { PEER_BOUNDS, TOO_LARGE, TOO_MANY_READERS } from './peer-bounds.js'
import type { SharedServices } from './places.js'
import { OpenCall, type Respond } from './open-call.js'
import { hasEffect, type OutcomeReader, problemOf, runMethod } from './run-method.js'

/** A result that was not fetched, arguments that were not completed and a reader that was not asked for are dropped, in milliseconds. */
const KEPT_MS = 60_000
/** An ended call is remembered as long as a message could begin it. */
const REMEMBERED_MS = BEGIN_WITHIN_MS + 2 * CLOCK_DIFFERENCE_MS

type Frame<K extends RequestFrame['kind']> = Extract<RequestFrame, { readonly kind: K }>

interface OpenReader {
  readonly reader: OutcomeReader
  readonly stop: AbortController
  /** The read that was asked for last. */
  call: OpenCall
  seq: number
  aliveAt: number
}

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
  readonly #readers = new Map<string, OpenReader>()
  readonly #parts = new Map<string, ArgumentParts>()
  /** Ids of ended calls, until when they are remembered, oldest first. */
  readonly #ended = new Map<string, number>()
  #heldBytes = 0
  heardAt: number

  constructor(options: PeerOptions) {
    this.#options = options
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
        return this.#next(frame, respond)
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
    for (const [id, { aliveAt }] of this.#readers) if (aliveAt < before) this.#closeReader(id)
    for (const [id, { at }] of this.#parts) if (at < before) this.#parts.delete(id)
    this.#forgetEnded()
    return this.heardAt < before && this.#calls.size + this.#ended.size === 0
  }

  /** Ends every reader, and every call that changes nothing. */
  close(): void {
    for (const id of this.#readers.keys()) this.#closeReader(id)
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
    const given = parts === 0 ? body : this.#parts.get(id)?.joined()
    if (given === undefined) return respond({ state: 'unknown' })
    this.#parts.delete(id)
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
    const { own, mayRun } = this.#options
    try {
      const request = { method, from, given: parseJson(text), signal: stop.signal, text: feed.text, mayRun }
      const { outcome, reader } = await runMethod(own, request)
      this.#finish(call, reader === undefined ? outcome : this.#openReader(id, reader, outcome))
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
    if (this.#ended.size >= ended) this.#forgetEnded()
    if (this.#calls.size < calls && this.#ended.size < ended) return undefined
    return new AgentprotoError('request_limit_reached', 'The host answers too many calls of this host', {
      expected: `at most ${calls} open calls, and ${ended} calls in ${REMEMBERED_MS / 1_000} s`,
      hint: 'Try again later',
    })
  }

  #put({ id, at, of }: Frame<'put'>, body: Uint8Array, respond: Respond): void {
    if (this.#calls.has(id) || this.#ended.has(id)) return respond({ state: 'taken' })
    const known = this.#parts.get(id)
    const held = Array.from(this.#parts.values(), ({ bytes }) => bytes).reduce((sum, bytes) => sum + bytes, 0)
    const isTooMuch =
      (known?.bytes ?? 0) + body.length > MAX_ARGUMENT_BYTES || held + body.length > PEER_BOUNDS.putBytes
    if (isTooMuch || this.#parts.size >= PEER_BOUNDS.calls) return this.#answerOnce(TOO_LARGE, respond)
    const parts = known ?? new ArgumentParts(of, this.#now())
    parts.at = this.#now()
    this.#parts.set(id, parts)
    respond({ state: parts.put(at, of, Uint8Array.from(body)) ? 'taken' : 'unknown' })
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
    if (seq === 0) return this.#calls.get(id)
    const open = this.#readers.get(id)
    return open?.seq === seq ? open.call : undefined
  }

  #next({ id, seq }: Frame<'next'>, respond: Respond): void {
    const open = this.#readers.get(id)
    if (open === undefined) return respond({ state: 'unknown' })
    open.aliveAt = this.#now()
    if (seq === open.seq) return open.call.answer(respond)
    if (seq !== open.seq + 1 || !open.call.isFinished) return respond({ state: 'unknown' })
    open.seq = seq
    open.call = this.#newCall()
    open.call.answer(respond)
    void this.#read(open, open.call)
  }

  async #read({ reader, stop }: OpenReader, call: OpenCall): Promise<void> {
    try {
      this.#finish(call, (await reader.next(stop.signal)) ?? { end: true })
    } catch (thrown) {
      this.#finish(call, problemOf(thrown, this.#options.onError))
    }
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
    this.#closeReader(id)
    this.#abandon(id)
    respond({ state: 'taken' })
  }

  #alive(body: Uint8Array, respond: Respond): void {
    const named: unknown = parseJson(Buffer.from(body).toString('utf8'))
    const open = new Set(Array.isArray(named) ? named : [])
    const now = this.#now()
    for (const [id, reader] of this.#readers) if (open.has(id)) reader.aliveAt = now
    respond({ state: 'taken' })
  }

  #openReader(id: string, reader: OutcomeReader, outcome: Outcome): Outcome {
    if (this.#readers.size >= PEER_BOUNDS.readers) {
      reader.close()
      return TOO_MANY_READERS
    }
    const call = this.#newCall()
    // Before the first read nothing is asked for.
    call.finish(EMPTY)
    this.#readers.set(id, { reader, stop: new AbortController(), call, seq: 0, aliveAt: this.#now() })
    return outcome
  }

  #closeReader(id: string): void {
    const open = this.#readers.get(id)
    if (open === undefined) return
    this.#readers.delete(id)
    open.call.drop()
    open.stop.abort()
    open.reader.close()
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
    this.#ended.set(id, this.#now() + REMEMBERED_MS)
  }

  #dropOldest(): void {
    if (this.#heldBytes <= PEER_BOUNDS.heldBytes) return
    for (const [id, call] of this.#calls) {
      if (call.isFinished) this.#end(id)
      if (this.#heldBytes <= PEER_BOUNDS.heldBytes) return
    }
  }

  #forgetEnded(): void {
    const now = this.#now()
    for (const [id, until] of this.#ended) {
      if (until >= now) return
      this.#ended.delete(id)
    }
  }

  #now(): number {
    return this.#options.clock.now()
  }
}

const EMPTY = Buffer.from('{}')
