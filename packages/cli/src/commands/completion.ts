import { Argument } from 'commander'
import type { Define } from '../cli-command.js'
import { completionScript, SHELLS, type Shell } from '../completion/scripts.js'

const HELP = `
Examples:
  $ source <(agentproto completion bash)       in ~/.bashrc
  $ source <(agentproto completion zsh)        in ~/.zshrc, after compinit
  $ agentproto completion fish > ~/.config/fish/completions/agentproto.fish

It completes commands, options and their values, sessions, workspaces, adapters and settings.`

export const define: Define = (command) =>
  command
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>').choices([...SHELLS]))
    .addHelpText('after', HELP)
    .run(async (_, shell: Shell) => ({ text: completionScript(shell).trimEnd() }))
