import type { CliCommand } from '../cli-command.js'
import { print } from '../cli-context.js'

/** `agentproto complete`, hidden, which the completion scripts call: prints a word and its description per line. */
export function addCompleteCommand(program: CliCommand): void {
  program
    .command('complete', { hidden: true })
    .description('print the words that may come next; the completion scripts call it')
    .argument('[words...]')
    .examples('complete -- sessions pro')
    .run(async (context, words: readonly string[]) => {
      const [{ completionsFor }, { namesOf }, { oneLine }] = await Promise.all([
        import('./completions.js'),
        import('./names.js'),
        import('../render/printable.js'),
      ])
      const { candidates, names } = completionsFor(program, words)
      const typed = words.at(-1) ?? ''
      const known = names === undefined ? [] : await namesOf(context, names)
      const lines = [...candidates, ...known.filter(({ word }) => word.startsWith(typed))].map(
        ({ word, description }) => `${word}\t${oneLine(description)}`,
      )
      if (lines.length > 0) print(context.stdout, lines)
    })
}
