import type { AgentRequest } from '@agentproto/contracts'
import type { AnswerRequest } from '@agentproto/contracts/wire'
import { paintFor, type CliContext } from '../cli-context.js'
import { openKeyboard } from './keyboard.js'
import { isCtrl, type Key } from './key.js'
import { LiveArea } from './live-area.js'
import { requestDialog } from './request-dialog.js'

/**
 * Shows one request on stderr until a key answers it.
 * @returns undefined when the signal aborts, because it was answered elsewhere or the turn has ended
 */
export function askByKey(
  context: CliContext,
  request: AgentRequest,
  signal: AbortSignal,
): Promise<AnswerRequest | undefined> {
  const { stdin, stderr } = context
  const dialog = requestDialog(request)
  const area = new LiveArea(stderr)
  const paint = paintFor(context, stderr)
  function draw(): void {
    const { rows, column } = dialog.view({ paint, width: stderr.columns ?? 80 })
    area.draw([], { rows, ...(column === undefined ? {} : { cursor: { row: rows.length - 1, column } }) })
  }
  return new Promise((resolve) => {
    const keyboard = openKeyboard({ stdin, output: stderr }, onKey)
    signal.addEventListener('abort', onAbort, { once: true })
    draw()
    function onKey(key: Key): void {
      // Raw mode makes Ctrl-C a key. Here it must do what it does in the rest of a run.
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
