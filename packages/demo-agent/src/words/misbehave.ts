import { spawn } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { RequestError } from '@agentclientprotocol/sdk'
import type { Turn } from '../turn.js'
import { firstAndRest, wholeNumber } from './argument.js'
import { callTool, textContent } from './tool-call.js'

const MAX_ROUNDS = 100_000
const MAX_CALLS = 100
const MAX_DELAY_MS = 24 * 60 * 60 * 1000
/** A grandchild ends by itself after this, so that a failed test leaves no process. */
const GRANDCHILD_SECONDS = 600

export async function late(turn: Turn, argument: string): Promise<void> {
  const ms = wholeNumber(argument, 1_000, MAX_DELAY_MS)
  await delay(ms, undefined, { signal: turn.signal })
  turn.say(`I am ${ms} ms late.`)
}

export function hang(turn: Turn): Promise<void> {
  return new Promise((resolve) => turn.signal.addEventListener('abort', () => resolve(), { once: true }))
}

export function hangForever(): Promise<void> {
  return new Promise(() => {})
}

/** Never settles: the turn has no answer, the process is gone. */
export function crash(turn: Turn, argument: string): Promise<void> {
  const exitCode = wholeNumber(argument, 1, 255)
  turn.around.output.raw('{"jsonrpc":"2.0","method":"session/upda')
  return new Promise(() => turn.around.output.flush(() => process.exit(exitCode)))
}

export function garbage(turn: Turn, argument: string): void {
  turn.around.output.raw(`${argument || 'this is not JSON'}\n`)
  turn.say('There was garbage.')
}

export function stop(turn: Turn, argument: string): void {
  turn.answer.stopReason = argument || 'because'
}

/** The last call begins again after it was completed, and its status goes backwards. */
export function duplicate(turn: Turn): void {
  const toolCallId = 'call-again'
  for (const title of ['First', 'Second', 'Third']) {
    turn.update({ sessionUpdate: 'tool_call', toolCallId, title, kind: 'other', status: 'pending' })
    turn.update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'completed' })
  }
  turn.update({ sessionUpdate: 'tool_call_update', toolCallId, status: 'in_progress' })
  turn.say('I used one id three times.')
}

/** Does not get on: the same calls again and again, each time with the same results. */
export async function loop(turn: Turn, argument: string): Promise<void> {
  const [times, count] = firstAndRest(argument)
  const rounds = wholeNumber(times, 10, MAX_ROUNDS)
  const calls = wholeNumber(count, 1, MAX_CALLS)
  for (let round = 0; round < rounds && !turn.signal.aborted; round++) {
    for (let call = 1; call <= calls; call++) {
      const start = { title: `Look ${call}`, kind: 'other', input: { place: call } } as const
      await callTool(turn, start, () => Promise.resolve({ content: [textContent('nothing')] }))
    }
  }
  turn.say('I found nothing.')
}

export function fail(_turn: Turn, argument: string): never {
  throw RequestError.internalError({ details: argument || 'as asked' }, argument || 'as asked')
}

export function stubborn(turn: Turn): void {
  turn.around.lifecycle.becomeStubborn()
  turn.say('I will not go.')
}

/** The grandchild of a stubborn agent ignores SIGTERM too. */
export function fork(turn: Turn): void {
  const ignored = turn.around.lifecycle.stubborn ? ['SIGTERM', 'SIGINT', 'SIGHUP'] : []
  const ignore = `for (const signal of ${JSON.stringify(ignored)}) process.on(signal, () => {})`
  const code = `${ignore}; setTimeout(() => {}, ${GRANDCHILD_SECONDS * 1000})`
  const child = spawn(process.execPath, ['-e', code], { detached: true, stdio: 'ignore' })
  child.once('error', () => {})
  child.unref()
  turn.say(`grandchild ${child.pid}`)
}
