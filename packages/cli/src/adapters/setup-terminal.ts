import { spawn } from 'node:child_process'
import { AgentprotoError } from '@agentproto/contracts'
import type { Question, Terminal } from '@agentproto/runtime'
import { isCtrl } from '../attach/key.js'
import { openKeyboard } from '../attach/keyboard.js'
import { LineEditor } from '../attach/line-editor.js'
import { LiveArea } from '../attach/live-area.js'
import { paintFor, print, widthOf, type CliContext } from '../cli-context.js'
import { cut } from '../render/fit.js'
import { oneLine } from '../render/printable.js'
import { fieldHint, readField, type Field } from '../requests/question-form.js'

interface SetupTerminalOptions {
  /** Called before the screen is used for anything but progress. */
  readonly beforeUse: () => void
}

/** The terminal for the questions, pages and programs of a setup; undefined when there is none. */
export function setupTerminal(context: CliContext, { beforeUse }: SetupTerminalOptions): Terminal | undefined {
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

/** Asks for one value on stderr, so that stdout stays the result. @throws `cancelled` on Ctrl-C or Ctrl-D */
export async function askValue(
  context: CliContext,
  question: Question,
  signal: AbortSignal,
): Promise<string | boolean> {
  const field = fieldOf(question)
  const area = new LiveArea(context.stderr)
  const editor = new LineEditor()
  let problem = ''
  const draw = (): void => area.draw([], viewOf(context, { question, field, editor, problem }))
  try {
    return await new Promise<string | boolean>((resolve, reject) => {
      const cancel = (): void => reject(new AgentprotoError('cancelled', 'The question was cancelled'))
      signal.addEventListener('abort', cancel, { once: true })
      const keyboard = openKeyboard({ stdin: context.stdin, output: context.stderr }, (key) => {
        if (isCtrl(key, 'c') || isCtrl(key, 'd')) return done(cancel)
        const typed = editor.key(key)
        const read = typed === undefined ? undefined : readField(field, typed)
        problem = read !== undefined && 'problem' in read ? read.problem : problem
        if (read !== undefined && 'value' in read) return done(() => resolve(answerOf(read.value)))
        draw()
      })
      const done = (settle: () => void): void => {
        keyboard.close()
        signal.removeEventListener('abort', cancel)
        settle()
      }
      signal.addEventListener('abort', () => keyboard.close(), { once: true })
      draw()
    })
  } finally {
    area.close([`  ${oneLine(question.prompt)}`])
  }
}

const answerOf = (value: unknown): string | boolean =>
  typeof value === 'boolean' ? value : typeof value === 'string' ? value : ''

function fieldOf({ prompt, type, options = [], default: fallback }: Question): Field {
  const kind = type === 'select' ? 'choice' : type === 'boolean' ? 'boolean' : 'text'
  return {
    name: 'value',
    title: prompt,
    type: kind,
    choices: options.map(({ value, label }) => ({ value, title: label })),
    required: fallback === undefined,
    ...(fallback === undefined ? {} : { fallback }),
  }
}

interface Asking {
  readonly question: Question
  readonly field: Field
  readonly editor: LineEditor
  readonly problem: string
}

/** A secret is drawn as dots of the same width. */
function viewOf(context: CliContext, { question, field, editor, problem }: Asking): Parameters<LiveArea['draw']>[1] {
  const paint = paintFor(context, context.stderr)
  const width = widthOf(context.stderr) - 1
  const { text, column } = editor.view(width - 4)
  const shown = question.type === 'secret' ? '•'.repeat(column) : text
  const choices = (question.options ?? [])
    .slice(0, 20)
    .map(({ label }, index) => cut(`    ${index + 1} ${oneLine(label)}`, width))
  const hint =
    question.type === 'select'
      ? 'a number or a name; Ctrl-C cancels'
      : fieldHint(question.type === 'secret' ? { ...field, fallback: undefined } : field)
  const rows = [
    paint.yellow(cut(`? ${oneLine(question.prompt)}`, width)),
    ...choices,
    ...[problem, problem === '' ? hint : '']
      .filter(Boolean)
      .map((line) => (problem === '' ? paint.dim : paint.red)(cut(`  ${oneLine(line)}`, width))),
    `  ${paint.bold('›')} ${shown}`,
  ]
  return { rows, cursor: { row: rows.length - 1, column: 4 + column } }
}

/** Opens a page when there is a desktop. The address is printed in any case. */
function openInBrowser(context: CliContext, url: string): void {
  if (!/^https?:\/\//.test(url)) return
  const opener =
    process.platform === 'darwin'
      ? 'open'
      : context.env['DISPLAY'] || context.env['WAYLAND_DISPLAY']
        ? 'xdg-open'
        : undefined
  if (opener === undefined) return
  const child = spawn(opener, [url], { stdio: 'ignore', detached: true })
  child.once('error', () => undefined)
  child.unref()
}
