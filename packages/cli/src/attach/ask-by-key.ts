import type { AnswerRequest } from '@agentproto/contracts/wire'
import type { CliContext } from '../cli-context.js'
import type { AskedRequest } from '../render/request-content.js'
import { isCtrl, type Key } from './keyboard.js'
import { RequestDialogs } from './request-dialogs.js'
import { showDialog } from './show-dialog.js'

/** Shows requests on stderr, one at a time, and answers them by key. */
export class KeyAsker {
  readonly #context: CliContext
  /** Kept from one request to the next, since a key may be held down. */
  readonly #dialogs = new RequestDialogs()

  constructor(context: CliContext) {
    this.#context = context
  }

  /**
   * Shows one request until a key answers it.
   * @returns undefined when the signal aborts, because it was answered elsewhere or the turn has ended
   */
  ask(asked: AskedRequest, signal: AbortSignal): Promise<AnswerRequest | undefined> {
    const dialogs = this.#dialogs
    dialogs.clear()
    dialogs.add(asked)
    return showDialog(this.#context, { view: (frame) => dialogs.view(frame), key: handle }, signal)

    function handle(key: Key, now: number): { readonly answer: AnswerRequest } | undefined {
      // Raw mode makes Ctrl-C a key. Here it must do what it does in the rest of a run.
      if (isCtrl(key, 'c')) process.emit('SIGINT')
      const action = isCtrl(key, 'c') ? undefined : dialogs.key(key, now)
      return action?.type === 'answer' ? { answer: action.answer } : undefined
    }
  }
}
