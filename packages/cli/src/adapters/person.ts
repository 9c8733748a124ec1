import { spawn } from 'node:child_process'
import { AgentprotoError } from '@agentproto/contracts'
import type { Question, Terminal } from '@agentproto/runtime'
import { isCtrl } from '../attach/key.js'
import { openKeyboard } from '../attach/keyboard.js'
import { LineEditor } from '../attach/line-editor.js'
import { LiveArea } from '../attach/live-area.js'
import { paintOf, print, widthOf, type Io } from '../io.js'
import { cut } from '../render/fit.js'
import { oneLine } from '../render/printable.js'
import { fieldHint, readField, type Field } from '../requests/question-form.js'

export interface PersonOptions {
  /** Called before the screen is used for something else than progress. */
  readonly onTurn?: () => void
}

/** The person at this terminal, as a setup needs one; undefined where there is none. */
export function personAt(io: Io, { onTurn = () => undefined }: PersonOptions = {}): Terminal | undefined {
  if (io.stdin.isTTY !== true || io.stderr.isTTY !== true) return undefined
  return {
    ask(question, signal) {
      onTurn()
      return askPerson(io, question, signal)
    },
    show(url) {
      onTurn()
      print(io.stderr, `  Open: ${paintOf(io, io.stderr).cyan(oneLine(url))}`)
      openInBrowser(io, url)
    },
    run(_, inTerminal) {
      onTurn()
      return inTerminal()
    },
  }
}

/** Asks for one value on stderr, so that stdout stays the result. @throws `cancelled` on Ctrl-C or Ctrl-D */
export async function askPerson(io: Io, question: Question, signal: AbortSignal): Promise<string | boolean> {
  const field = fieldOf(question)
  const area = new LiveArea(io.stderr)
  const editor = new LineEditor()
  let problem = ''
  const draw = (): void => area.draw([], viewOf(io, { question, field, editor, problem }))
  try {
    return await new Promise<string | boolean>((resolve, reject) => {
      const giveUp = (): void => reject(new AgentprotoError('cancelled', 'It was cancelled at a question'))
      signal.addEventListener('abort', giveUp, { once: true })
      const keyboard = openKeyboard({ stdin: io.stdin, output: io.stderr }, (key) => {
        if (isCtrl(key, 'c') || isCtrl(key, 'd')) return done(giveUp)
        const typed = editor.key(key)
        const read = typed === undefined ? undefined : readField(field, typed)
        problem = read !== undefined && 'problem' in read ? read.problem : problem
        if (read !== undefined && 'value' in read) return done(() => resolve(answerOf(read.value)))
        draw()
      })
      const done = (settle: () => void): void => {
        keyboard.close()
        signal.removeEventListener('abort', giveUp)
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

/** A secret is drawn as dots, each as wide as what it stands for. */
function viewOf(io: Io, { question, field, editor, problem }: Asking): Parameters<LiveArea['draw']>[1] {
  const paint = paintOf(io, io.stderr)
  const width = widthOf(io.stderr) - 1
  const { text, column } = editor.view(width - 4)
  const shown = question.type === 'secret' ? '•'.repeat(column) : text
  const choices = (question.options ?? [])
    .slice(0, 20)
    .map(({ label }, index) => cut(`    ${index + 1} ${oneLine(label)}`, width))
  const hint =
    question.type === 'select'
      ? 'a number or a name; Ctrl-C gives up'
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

/** Opens a page where there is a screen to show it; the address is printed in any case. */
function openInBrowser(io: Io, url: string): void {
  if (!/^https?:\/\//.test(url)) return
  const opener =
    process.platform === 'darwin' ? 'open' : io.env['DISPLAY'] || io.env['WAYLAND_DISPLAY'] ? 'xdg-open' : undefined
  if (opener === undefined) return
  const child = spawn(opener, [url], { stdio: 'ignore', detached: true })
  child.once('error', () => undefined)
  child.unref()
}
