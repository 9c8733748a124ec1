import type { AgentRequest, PermissionOption, PermissionOptionKind } from '@agentproto/contracts'
import type { AnswerRequest } from '@agentproto/contracts/wire'
import { fieldsOf } from './question-form.js'

/** An answer and the keys that give it. */
export interface Choice {
  /** The first one is shown. */
  readonly keys: readonly string[]
  readonly label: string
  readonly answer: AnswerRequest
}

/** A letter for the first option of each kind; every option also has its number. */
const LETTERS: Readonly<Record<PermissionOptionKind, string>> = {
  allow_once: 'y',
  allow_always: 'a',
  reject_once: 'n',
  reject_always: 'd',
}

/** The answers that one key can give; undefined for a question with a form. */
export function choicesOf(request: AgentRequest): readonly Choice[] | undefined {
  if (request.kind === 'permission') return permissionChoices(request.options)
  if (request.mode === 'form' && fieldsOf(request.schema).length > 0) return undefined
  return [
    { keys: ['y'], label: request.mode === 'url' ? 'I have done it' : 'accept', answer: { action: 'accept' } },
    { keys: ['n'], label: 'decline', answer: { action: 'decline' } },
  ]
}

function permissionChoices(options: readonly PermissionOption[]): Choice[] {
  const taken = new Set<string>()
  return options.map(({ optionId, name, kind }, index) => {
    const letter = LETTERS[kind]
    const isFirst = letter !== undefined && !taken.has(letter)
    taken.add(letter)
    return {
      keys: [...(isFirst ? [letter] : []), ...(index < 9 ? [String(index + 1)] : [])],
      label: name,
      answer: { optionId },
    }
  })
}
