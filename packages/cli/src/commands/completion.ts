import { Argument } from 'commander'
import type { Define } from '../cli-command.js'

const HELP = `
Examples:
  $ source <(agentproto completion bash)       in ~/.bashrc
  $ source <(agentproto completion zsh)        in ~/.zshrc, after compinit
  $ agentproto completion fish > ~/.config/fish/completions/agentproto.fish

It completes commands, options and their values, sessions, workspaces, adapters and settings.`

export const define: Define = (command) =>
  command
    .description('print the completion script of a shell')
    .addArgument(new Argument('<shell>').choices(Object.keys(SCRIPTS)))
    .addHelpText('after', HELP)
    .run(async (_, shell: keyof typeof SCRIPTS) => ({ text: SCRIPTS[shell] }))

/** Each calls `agentproto complete`, so that it is never out of date. */
const SCRIPTS = {
  bash: `# agentproto completion for bash. In ~/.bashrc: source <(agentproto completion bash)
_agentproto() {
  local IFS=$'\\n'
  COMPREPLY=($(agentproto complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _agentproto agentproto`,
  zsh: `#compdef agentproto
# agentproto completion for zsh. In ~/.zshrc, after compinit: source <(agentproto completion zsh)
_agentproto() {
  local line
  local -a described
  while IFS= read -r line; do
    [[ -n $line ]] && described+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done < <(agentproto complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( \${#described} )); then
    _describe agentproto described
  else
    _files
  fi
}
compdef _agentproto agentproto`,
  fish: `# agentproto completion for fish. In ~/.config/fish/completions/agentproto.fish: agentproto completion fish | source
function __agentproto_complete
  set -l words (commandline -opc) (commandline -ct)
  agentproto complete -- $words[2..-1] 2>/dev/null
end
complete -c agentproto -f -a '(__agentproto_complete)'`,
} as const
