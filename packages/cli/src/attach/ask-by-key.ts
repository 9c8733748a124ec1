import type { AgentRequest, AnswerRequest } from '@agentproto/contracts'
import { paintOf, type Io } from '../io.js'
import { openKeyboard } from './keyboard.js'
import { isCtrl, type Key } from './key.js'
import { LiveArea } from './live-area.js'
import { requestDialog } from './request-dialog.js'

/**
 * Puts one request to the person at the terminal, drawn on stderr.
 * @returns undefined when the signal aborts, because it was answered elsewhere or the turn is over
 */
export function askByKey(io: Io, request: AgentRequest, signal: AbortSignal): Promise<AnswerRequest | undefined> {
  const dialog = requestDialog(request)
  const area = new LiveArea(io.stderr)
  const paint = paintOf(io, io.stderr)
  function draw(): void {
    const { rows, column } = dialog.view({ paint, width: io.stderr.columns ?? 80 })
    area.draw([], { rows, ...(column === undefined ? {} : { cursor: { row: rows.length - 1, column } }) })
  }
  return new Promise((resolve) => {
    const keyboard = openKeyboard({ stdin: io.stdin, output: io.stderr }, onKey)
    signal.addEventListener('abort', onAbort, { once: true })
    draw()
    function onKey(key: Key): void {
      // Raw mode makes Ctrl-C a key; it is to do here what it does everywhere else in a run.
      if (isCtrl(key, 'c')) {
        process.emit('SIGINT')
        return
      }
      const answer = dialog.key(key)
      if (answer === undefined) draw()
      else finish(answer)
    }
    function onAbort(): void {
      finish(undefined)
    }
    function finish(answer: AnswerRequest | undefined): void {
      signal.removeEventListener('abort', onAbort)
      keyboard.close()
      area.close()
      resolve(answer)
    }
  })
}
