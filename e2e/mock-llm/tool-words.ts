/** A word that makes the model use one of the agent's own tools. */
export interface ToolWord {
  readonly word: 'WRITE' | 'EDIT' | 'READ' | 'RUN' | 'ASK' | 'PLAN' | 'CALL'
  readonly argument: string
  /** For CALL: the input as JSON. */
  readonly input?: string
}

const WORDS = /\b(?:(WRITE|EDIT|READ) (\S+)|(RUN|ASK) ([^\n]+)|(PLAN)\b|(CALL) (\S+) (\{[^\n]*\}))/g

/** The tool words of a message, in order. */
export function toolWords(message: string): readonly ToolWord[] {
  return Array.from(message.matchAll(WORDS), ([, file, path = '', line, rest = '', plan, , tool = '', input = '']) => {
    if (file) return { word: file, argument: path } as ToolWord
    if (line) return { word: line, argument: rest.trim() } as ToolWord
    return plan ? { word: 'PLAN', argument: '' } : { word: 'CALL', argument: tool, input }
  })
}
