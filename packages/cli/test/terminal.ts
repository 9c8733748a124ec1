import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, onTestFinished } from 'vitest'
import { BIN, environment, folder } from './cli-process.js'

export interface Terminal {
  /** Types text as it is. */
  type(text: string): void
  /** Pastes the content of a file, in brackets if the program asks for them. */
  pasteFile(path: string): void
  /** Presses keys by their tmux names: `Enter`, `C-c`, `Escape`. */
  press(...keys: readonly string[]): void
  /** Pastes text as a terminal does: in brackets if the program asked for them, or as one read of plain keys. */
  paste(text: string, options: { readonly brackets: boolean }): void
  /** What the screen shows now. */
  now(): Promise<string>
  /** Waits until the screen matches, and returns it. */
  shows(pattern: RegExp): Promise<string>
  resize(width: number, height: number): void
}

interface Screen {
  readonly columns?: number
  readonly rows?: number
  readonly env?: Readonly<Record<string, string>>
}

/** Runs `agentproto …` in a terminal, and a shell after it, so that its last screen stays. */
export function terminal(
  args: readonly string[],
  home: string,
  { columns = 100, rows = 30, env = {} }: Screen = {},
): Terminal {
  const socket = join(folder('tmux'), 's')
  const tmux = (...words: readonly string[]): string =>
    execFileSync('tmux', ['-S', socket, ...words], { encoding: 'utf8' })
  const command = [process.execPath, BIN, ...args].map((word) => `'${word}'`).join(' ')
  execFileSync(
    'tmux',
    [
      '-S',
      socket,
      '-f',
      '/dev/null',
      'new-session',
      '-d',
      '-x',
      String(columns),
      '-y',
      String(rows),
      `${command}; echo "exit code $?"; exec cat`,
    ],
    {
      env: environment({ home, env }),
      cwd: home,
    },
  )
  onTestFinished(() => void tmux('kill-server'))
  return {
    type: (text) => void tmux('send-keys', '-l', text),
    pasteFile(path) {
      tmux('load-buffer', path)
      tmux('paste-buffer', '-p')
    },
    press: (...keys) => void tmux('send-keys', ...keys),
    paste(text, { brackets }) {
      tmux('set-buffer', text)
      tmux('paste-buffer', ...(brackets ? ['-p'] : []))
    },
    now: () => Promise.resolve(tmux('capture-pane', '-p').trimEnd()),
    async shows(pattern) {
      await expect.poll(() => tmux('capture-pane', '-p'), { timeout: 30_000, interval: 50 }).toMatch(pattern)
      return tmux('capture-pane', '-p').trimEnd()
    },
    resize: (width, height) => void tmux('resize-window', '-x', String(width), '-y', String(height)),
  }
}
