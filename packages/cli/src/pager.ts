import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import type { Writable } from 'node:stream'
import { print, type CliContext } from './cli-context.js'
import { visible } from './render/printable.js'

/** What `git` gives to `less`: colours, no pager for less than a screen, and the text stays on the screen. */
const LESS = 'FRX'

export interface Pager {
  /** Resolves when the person has left it. @returns false if it could not be started; nothing was read then */
  show(lines: AsyncGenerator<string>): Promise<boolean>
}

/** Also `less` at the end of the text, from where one reads back. */
const LESS_AT_END = 'RX+G'

/**
 * The pager of the person: the words of `PAGER`, never read by a shell, or `less`. Undefined if it is empty or `cat`. It gets
 * text of which only our colours can move anything.
 */
function openPager(
  { env }: Pick<CliContext, 'env'>,
  { atEnd = false }: { readonly atEnd?: boolean } = {},
): Pager | undefined {
  const [program, ...args] = (env['PAGER'] ?? 'less').split(/\s+/).filter((word) => word !== '')
  if (program === undefined || program === 'cat') return undefined
  return {
    async show(lines) {
      const pager = spawn(program, args, {
        stdio: ['pipe', 'inherit', 'inherit'],
        env: { LESS: atEnd ? LESS_AT_END : LESS, ...env },
      })
      if (!(await hasStarted(pager))) return false
      const { stdin } = pager
      const ended = once(pager, 'close')
      // Ctrl-C is for the pager, which ends when the person leaves it.
      process.on('SIGINT', ignore)
      try {
        await feed(stdin, lines)
        await ended
      } finally {
        process.off('SIGINT', ignore)
      }
      return true
    },
  }
}

/** Shows lines of ours in the pager, or prints them where there is none. */
export async function showLines(
  context: CliContext,
  lines: AsyncGenerator<string>,
  options: { readonly atEnd?: boolean } = {},
): Promise<void> {
  const pager = openPager(context, options)
  if (pager === undefined || !(await pager.show(lines))) for await (const line of lines) print(context.stdout, line)
}

const hasStarted = (pager: ChildProcess): Promise<boolean> =>
  new Promise((resolve) => {
    pager.once('spawn', () => resolve(true))
    pager.once('error', () => resolve(false))
  })

/** Until the end of the lines, or of a pager that the person left earlier. */
async function feed(stdin: Writable, lines: AsyncGenerator<string>): Promise<void> {
  let isOpen = true
  const closed = new Promise<void>((resolve) => {
    const close = (): void => {
      isOpen = false
      resolve()
    }
    stdin.on('error', close).on('close', close)
  })
  for await (const line of lines) {
    if (!isOpen) break
    if (!stdin.write(`${visible(line)}\n`)) await Promise.race([once(stdin, 'drain').catch(ignore), closed])
  }
  stdin.end()
}

const ignore = (): void => undefined
