export const SHELLS = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof SHELLS)[number]

/** Each script calls `agentproto complete`, so that it is never out of date. */
export const completionScript = (shell: Shell): string => SCRIPTS[shell]

const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: `# agentproto completion for bash. In ~/.bashrc: source <(agentproto completion bash)
_agentproto() {
  local IFS=$'\\n'
  COMPREPLY=($(agentproto complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null | cut -f1))
}
complete -o default -F _agentproto agentproto
`,
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
compdef _agentproto agentproto
`,
  fish: `# agentproto completion for fish. In ~/.config/fish/completions/agentproto.fish: agentproto completion fish | source
function __agentproto_complete
  set -l words (commandline -opc) (commandline -ct)
  agentproto complete -- $words[2..-1] 2>/dev/null
end
complete -c agentproto -f -a '(__agentproto_complete)'
`,
}
