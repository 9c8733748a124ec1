import { Argument, type Command } from 'commander'
import { print } from '../cli-context.js'
import type { Run } from '../command-definition.js'
import { completionScript, SHELLS, type Shell } from '../completion/scripts.js'

const HELP = `
Examples:
  $ source <(agentproto completion bash)       in ~/.bashrc
  $ source <(agentproto completion zsh)        in ~/.zshrc, after compinit
  $ agentproto completion fish > ~/.config/fish/completions/agentproto.fish

It completes commands, options and their values, sessions, workspaces, adapters and settings.`

export function define(command: Command, run: Run): void {
  command
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>').choices([...SHELLS]))
    .addHelpText('after', HELP)
    .action(run(async ({ stdout }, shell: Shell) => print(stdout, completionScript(shell).trimEnd())))
}
