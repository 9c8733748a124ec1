import { AgentprotoError, defined, type FormField } from '@agentproto/contracts'
import type { Question, Terminal } from '@agentproto/runtime'
import { FieldInput } from '../attach/field-input.js'
import { isCtrl, type Key } from '../attach/keyboard.js'
import type { LiveRows } from '../attach/live-area.js'
import { showDialog } from '../attach/show-dialog.js'
import { openInBrowser } from '../browser.js'
import { paintFor, print, type CliContext } from '../cli-context.js'
import { cut } from '../render/fit.js'
import type { Frame } from '../render/paint.js'
import { oneLine } from '../render/printable.js'
import { fieldHint } from '../requests/question-form.js'

/**
 * The terminal for the questions, pages and programs of a setup; undefined when there is none.
 * @param beforeUse Called before the screen is used for anything but progress
 */
export function setupTerminal(context: CliContext, beforeUse: () => void): Terminal | undefined {
  if (context.stdin.isTTY !== true || context.stderr.isTTY !== true) return undefined
  return {
    ask(question, signal) {
      beforeUse()
      return askValue(context, question, signal)
    },
    show(url) {
      beforeUse()
      print(context.stderr, `  Open: ${paintFor(context, context.stderr).cyan(oneLine(url))}`)
      openInBrowser(context, url)
    },
    run(_, inTerminal) {
      beforeUse()
      return inTerminal()
    },
  }
}

/** Asks for one value. @throws `cancelled` on Ctrl-C or Ctrl-D, or when the signal aborts */
export async function askValue(
  context: CliContext,
  question: Question,
  signal: AbortSignal,
): Promise<string | boolean> {
  const input = new FieldInput(fieldOf(question))
  const dialog = {
    view: (frame: Frame) => viewOf(frame, question, input),
    key: (key: Key) => (isCtrl(key, 'c') || isCtrl(key, 'd') ? { answer: undefined } : answerOf(input.key(key))),
    last: [`  ${oneLine(question.prompt)}`],
  }
  const answer = await showDialog<string | boolean>(context, dialog, signal)
  if (answer === undefined) throw new AgentprotoError('cancelled', 'The question was cancelled')
  return answer
}

function answerOf(read: ReturnType<FieldInput['key']>): { readonly answer: string | boolean } | undefined {
  if (read === undefined) return undefined
  return { answer: typeof read.value === 'boolean' || typeof read.value === 'string' ? read.value : '' }
}

function fieldOf({ prompt, type, options = [], default: fallback }: Question): FormField {
  const kind = type === 'select' ? 'choice' : type === 'boolean' ? 'boolean' : 'text'
  return {
    name: 'value',
    title: prompt,
    type: kind,
    choices: options.map(({ value, label }) => ({ value, title: label })),
    required: fallback === undefined,
    ...defined({ fallback }),
  }
}

/** A secret is drawn as dots of the same width. */
function viewOf({ paint, width: columns }: Frame, question: Question, input: FieldInput): LiveRows {
  const { field, problem } = input
  const width = columns - 1
  const { text, column } = input.view(width - 4)
  const shown = question.type === 'secret' ? '•'.repeat(column) : text
  const choices = (question.options ?? [])
    .slice(0, 20)
    .map(({ label }, index) => cut(`    ${index + 1} ${oneLine(label)}`, width))
  const hint =
    question.type === 'select'
      ? 'a number or a name; Ctrl-C cancels'
      : fieldHint(question.type === 'secret' ? { ...field, fallback: undefined } : field)
  const line = problem || hint
  const rows = [
    paint.yellow(cut(`? ${oneLine(question.prompt)}`, width)),
    ...choices,
    ...(line === '' ? [] : [(problem === '' ? paint.dim : paint.red)(cut(`  ${oneLine(line)}`, width))]),
    `  ${paint.bold('›')} ${shown}`,
  ]
  return { rows, cursor: { row: rows.length - 1, column: 4 + column } }
}
