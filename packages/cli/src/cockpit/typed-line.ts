import type { Session } from '@agentproto/contracts'
import { LineEditor } from '../attach/line-editor.js'

/** The line in which something is typed, below the list. */
export type TypedLine = { readonly type: 'filter'; readonly editor: LineEditor } | PromptLine

export interface PromptLine {
  readonly type: 'prompt'
  readonly editor: LineEditor
  readonly session: Session
}

export function editorWith(text: string): LineEditor {
  const editor = new LineEditor()
  editor.text = text
  return editor
}
