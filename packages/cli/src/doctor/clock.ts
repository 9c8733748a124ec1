import { open, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { asRecord, asString, type Clock, parseJson, systemClock } from '@agentproto/contracts'
import type { HomeLayout } from '@agentproto/contracts/agent'
import type { Finding } from './finding.js'

/** Clocks of machines that are set by NTP differ by less. */
const TOLERANCE_MS = 60_000
const LAST_LINE_BYTES = 64 * 1024

/**
 * Whether the clock of this machine agrees with what is stored: a clock that was set back gives events that are older than those
 * before them, and days of usage that are wrong; a file server may have another one.
 */
export async function checkClock({ sessions }: HomeLayout, clock: Pick<Clock, 'now'> = systemClock): Promise<Finding> {
  const newest = await newestLog(sessions)
  if (newest === undefined) return { verdict: 'ok', detail: 'no session to compare it with' }
  const event = await lastEventTime(newest.path)
  const ahead = Math.max(newest.mtimeMs, event ?? 0) - clock.now()
  if (ahead > TOLERANCE_MS)
    return warn(`it is ${inWords(ahead)} before the newest event, in ${newest.path}`, 'Set the clock of this machine')
  const skew = event === undefined ? 0 : Math.abs(newest.mtimeMs - event)
  if (skew > TOLERANCE_MS)
    return warn(
      `the times of files differ from it by ${inWords(skew)}, as those of ${newest.path}`,
      'If the home is on a file server, set the clock of both by NTP; a copied home is no problem',
    )
  return { verdict: 'ok', detail: 'it agrees with the newest event' }
}

const warn = (detail: string, hint: string): Finding => ({ verdict: 'warn', detail, hint })

interface Log {
  readonly path: string
  readonly mtimeMs: number
}

async function newestLog(sessions: string): Promise<Log | undefined> {
  let newest: Log | undefined
  for (const name of await readdir(sessions).catch(() => [])) {
    const path = join(sessions, name, 'events.jsonl')
    const mtimeMs = await stat(path).then(
      (found) => found.mtimeMs,
      () => 0,
    )
    if (mtimeMs > (newest?.mtimeMs ?? 0)) newest = { path, mtimeMs }
  }
  return newest
}

/** In milliseconds since the epoch; undefined for a last event that is longer than what is read. */
async function lastEventTime(path: string): Promise<number | undefined> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const length = Math.min(size, LAST_LINE_BYTES)
    const { buffer } = await file.read(Buffer.alloc(length), 0, length, size - length)
    const line = buffer.toString('utf8').trimEnd().split('\n').at(-1) ?? ''
    const at = Date.parse(asString(asRecord(parseJson(line))['ts']) ?? '')
    return Number.isNaN(at) ? undefined : at
  } finally {
    await file.close()
  }
}

function inWords(ms: number): string {
  if (ms < 2 * 60 * 60_000) return `${Math.round(ms / 60_000)} minutes`
  if (ms < 2 * 24 * 60 * 60_000) return `${Math.round(ms / 3_600_000)} hours`
  return `${Math.round(ms / 86_400_000)} days`
}
