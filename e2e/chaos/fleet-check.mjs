// What must be true of the log of a session of a fleet: as its owner has it, as others have it, and as the NATS servers have it.
import { chained } from './follower.mjs'
import { kindOf, TOKEN, TurnContent } from './prompts.mjs'
import { LogCheck } from './session-check.mjs'

/**
 * @param session `id`; `cwd`; `lines` that its owner has stored; `copies`, by host, as others answer; `reader` that followed it;
 *   `stored`, the messages of the servers; `tokens`, the turn of each prompt; `calm`, the content of each kind of turn;
 *   `mayMove`: its host may be lost, and with it turns and what nobody has read yet
 * @returns the faults, as sentences
 */
export function faultsOf({ copies, reader, stored, ...session }) {
  const { lines, mayMove = false } = session
  return [
    ...logFaults({ ...session, lost: mayMove ? lostByMoves(stored ?? []) : [] }),
    ...[...copies].flatMap(([host, copy]) => copyFaults(copy, lines).map((fault) => `${host}: ${fault}`)),
    ...(reader === undefined ? [] : readerFaults(reader, lines)),
    ...(stored === undefined ? [] : storedFaults(stored, lines, { mayMove }).map((fault) => `the servers: ${fault}`)),
  ]
}

/**
 * Of a host that was lost, the events that it had stored and not yet published: the host that goes on says so before its own
 * first event, and gives their numbers to no other event. Any other gap is a fault.
 */
export function lostByMoves(messages) {
  return messages.filter(({ kind, epoch }, at) => kind === 'gap' && isOwnerOf(messages[at - 1], epoch))
}

const isOwnerOf = (message, epoch) => message?.kind === 'owner' && message.epoch === epoch && epoch > 1

/** Numbers without gaps, and each prompt once, in its turn, with all that a calm turn has. */
function logFaults({ id, cwd, lines, tokens, calm, lost, mayMove = false }) {
  const faults = []
  const log = new LogCheck((fault) => faults.push(fault), { lost })
  const turns = new Map()
  for (const line of lines) {
    const event = parsed(line)
    if (event === undefined) {
      faults.push(`line ${log.last + 1} is no event`)
      continue
    }
    log.take(event)
    if (event.sessionId !== id) faults.push(`event ${event.seq} is one of ${event.sessionId}`)
    if (event.turn === undefined) continue
    if (event.type === 'user-prompt' && turns.has(event.turn)) faults.push(`turn ${event.turn} began twice`)
    if (!turns.has(event.turn)) turns.set(event.turn, { content: new TurnContent(cwd), reason: undefined })
    const turn = turns.get(event.turn)
    turn.content.take(event)
    if (event.type === 'turn-end') turn.reason = event.reason
  }
  log.end()
  return [
    ...faults,
    ...unsaidLosses(lost, lines),
    ...(mayMove ? repeatedPrompts(lines) : turnFaults(turns, tokens, calm)),
  ]
}

const unsaidLosses = (lost, lines) =>
  lost
    .filter(({ first, last }) => !lines.some((line) => line.includes(`${last - first + 1} of its events are lost`)))
    .map(({ first, last }) => `its log does not say that events ${first} to ${last} are lost`)

function turnFaults(turns, tokens, calm) {
  const faults = []
  for (const [token, number] of tokens) {
    const turn = turns.get(number)
    if (turn?.content.token !== token) faults.push(`turn ${number} is not that of ${token}`)
    else if (turn.reason !== 'end_turn') faults.push(`turn ${number} (${token}) ended as ${turn.reason}`)
    else if (!isSame(turn.content.lanes(), calm.get(kindOf(token))))
      faults.push(`turn ${number} (${token}) has not what a calm turn has`)
  }
  const asked = new Set(tokens.values())
  for (const number of turns.keys()) if (!asked.has(number)) faults.push(`turn ${number} was not asked for`)
  return faults
}

/** A prompt that is sent again, because its answer was lost, is one turn. */
function repeatedPrompts(lines) {
  const faults = []
  const seen = new Set()
  for (const line of lines) {
    const event = parsed(line)
    if (event?.type !== 'user-prompt') continue
    const [token] = event.content[0].text.match(TOKEN) ?? []
    if (seen.has(token)) faults.push(`the prompt ${token} has two turns`)
    seen.add(token)
  }
  return faults
}

function copyFaults(copy, lines) {
  const at = lines.findIndex((line, index) => line !== copy[index])
  if (at !== -1) return [`line ${at + 1} of its log is another one, of ${copy.length} in place of ${lines.length}`]
  return copy.length === lines.length ? [] : [`its log has ${copy.length} lines in place of ${lines.length}`]
}

function readerFaults({ faults, last, chain }, lines) {
  const found = faults.map((fault) => `its reader: ${fault}`)
  if (last !== lines.length) return [...found, `its reader has read ${last} events in place of ${lines.length}`]
  if (chain !== lines.reduce(chained, '')) return [...found, 'its reader has read other events']
  return found
}

/** One owner after the other, and the events of each follow those of the one before. */
function storedFaults(messages, lines, { mayMove }) {
  const faults = []
  const before = { epoch: 1, last: 0 }
  const lost = new Set(mayMove ? lostByMoves(messages) : [])
  for (const message of messages) {
    faults.push(...ownerFaults(message, before, { mayMove }))
    if (!lost.has(message)) faults.push(...orderFaults(message, before))
    else if (message.first !== before.last + 1)
      faults.push(`the gap from ${message.first} on comes after ${before.last}`)
    before.epoch = Math.max(before.epoch, message.epoch)
    if (EVENTS.has(message.kind) || lost.has(message)) before.last = message.last
  }
  return [...faults, ...copyFaults(linesIn(messages), lines)]
}

function ownerFaults({ kind, epoch, first }, before, { mayMove }) {
  const faults = []
  if (epoch < before.epoch) faults.push(`events from ${first} on are of owner ${epoch}, after those of ${before.epoch}`)
  if (epoch > before.epoch && kind !== 'owner')
    faults.push(`owner ${epoch} has stored events before it took the session`)
  if (epoch > 1 && !mayMove) faults.push('a session that waits for its host has another owner')
  return faults
}

function orderFaults({ kind, first, last }, before) {
  if (kind === 'gap') return [`events ${first} to ${last} are a gap`]
  const isNextPart = kind === 'part' && first === before.last
  const follows = first === before.last + 1 || isNextPart
  return EVENTS.has(kind) && !follows ? [`event ${first} comes after ${before.last}`] : []
}

const EVENTS = new Set(['events', 'part'])

/** @returns the lines of the events in the messages of a session */
export function linesIn(messages) {
  const stored = messages.filter(({ kind }) => EVENTS.has(kind))
  // The parts of one event follow each other.
  const ends = (at) => stored[at].kind === 'events' || stored[at + 1]?.first !== stored[at].first
  const bodies = stored.flatMap(({ body }, at) => (ends(at) ? [body, LINE_END] : [body]))
  return Buffer.concat(bodies)
    .toString('utf8')
    .split('\n')
    .filter((line) => line !== '')
}

const LINE_END = Buffer.from('\n')

const isSame = (one, other) => JSON.stringify(one) === JSON.stringify(other)

function parsed(line) {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
