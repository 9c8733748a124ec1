import type { AgentRequest } from '@agentproto/contracts'
import type { AnswerRequest } from '@agentproto/contracts/wire'
import type { CliContext } from '../cli-context.js'
import { isCtrl, type Key } from './keyboard.js'
import { requestDialog } from './request-dialog.js'
import { showDialog } from './show-dialog.js'

/**
 * Shows one request on stderr until a key answers it.
 * @returns undefined when the signal aborts, because it was answered elsewhere or the turn has ended
 */
export function askByKey(
  context: CliContext,
  request: AgentRequest,
  signal: AbortSignal,
): Promise<AnswerRequest | undefined> {
  const dialog = requestDialog(request)
  return showDialog(context, { view: (frame) => dialog.view(frame), key: handle }, signal)

  function handle(key: Key): { readonly answer: AnswerRequest } | undefined {
    // Raw mode makes Ctrl-C a key. Here it must do what it does in the rest of a run.
    if (isCtrl(key, 'c')) process.emit('SIGINT')
    const answer = isCtrl(key, 'c') ? undefined : dialog.key(key)
    return answer && { answer }
  }
}
