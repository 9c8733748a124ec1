/** One row of the table of keys. */
export interface KeyRow {
  readonly keys: string
  readonly what: string
}

/** Every key of the attach screen. `/help` and docs/attach.md have this table; a test compares them. */
export const ATTACH_KEYS: readonly KeyRow[] = [
  { keys: 'Enter', what: 'send the line; while a turn runs, queue it' },
  { keys: 'Enter (empty line)', what: 'send a queue that waits after an interrupted or failed turn' },
  { keys: 'Ctrl-S', what: 'interrupt the turn and send the line, or else the first queued prompt, now' },
  { keys: 'Ctrl-T', what: 'take the last queued prompt back into the line' },
  { keys: 'Alt-Enter', what: 'a new line in the prompt' },
  { keys: 'Esc', what: 'interrupt the turn; the line and the queue stay' },
  { keys: 'Ctrl-C', what: 'interrupt the turn, or else clear the line' },
  { keys: 'Ctrl-C Ctrl-C', what: 'detach; the session keeps running, and what was not sent is printed' },
  { keys: 'Ctrl-D (empty line)', what: 'detach' },
  { keys: 'Tab', what: 'complete a command, a mode, a model or a permission mode' },
  { keys: '↑ ↓, Ctrl-P Ctrl-N', what: 'a line up or down in the prompt, then earlier prompts of the session' },
  { keys: 'Ctrl-R', what: 'search the earlier prompts; again for an older one, Esc leaves' },
  { keys: 'PageUp, Ctrl-O', what: 'show the whole log in the pager, from its end' },
  { keys: '← →, Ctrl-B Ctrl-F', what: 'one character to the left or right' },
  { keys: 'Home End, Ctrl-A Ctrl-E', what: 'the start or end of the prompt' },
  { keys: 'Backspace Delete, Ctrl-H', what: 'delete a character' },
  { keys: 'Ctrl-W', what: 'delete the word before the cursor' },
  { keys: 'Ctrl-U Ctrl-K', what: 'delete what is before or after the cursor' },
]
