import { Argument, type Command } from 'commander'
import { SHELLS, type Shell } from '../completion/scripts.js'
import type { Run } from '../io.js'

const HELP = `
Examples:
  $ source <(agentproto completion bash)       in ~/.bashrc
  $ source <(agentproto completion zsh)        in ~/.zshrc, after compinit
  $ agentproto completion fish > ~/.config/fish/completions/agentproto.fish

Commands, options and their values, sessions, workspaces, adapters and settings are completed.`

export function addCompletionCommands(program: Command, run: Run): void {
  program
    .command('completion')
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>').choices([...SHELLS]))
    .addHelpText('after', HELP)
    .action((shell: Shell) => run(async (io) => (await import('../commands/completion.js')).printCompletion(io, shell)))
  program
    .command('complete', { hidden: true })
    .description('say what may come next; the completion scripts call it')
    .argument('[words...]')
    .action((words: string[]) =>
      run(async (io) => (await import('../commands/completion.js')).complete(io, program, words)),
    )
}
