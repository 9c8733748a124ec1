import type { Command } from 'commander'

/** What people type, by command; `--help`, the man pages and the tests read it. */
const EXAMPLES: Readonly<Record<string, readonly string[]>> = {
  'sessions start': [
    'sessions start demo --label try',
    'sessions start opencode --workspace shop -p "Why is the cart empty?"',
    'sessions start demo --attach',
  ],
  'sessions prompt': [
    'sessions prompt try "read README.md" --wait',
    'sessions prompt try "explain @src/cart.ts" --wait',
    'git diff | agentproto sessions prompt try - --when-busy queue',
  ],
  'sessions wait': ['sessions wait try', 'sessions wait try --turn 2 --json', 'sessions wait try --timeout 60'],
  'sessions interrupt': ['sessions interrupt try'],
  'sessions resume': [
    'sessions resume try',
    'sessions resume try --fresh',
    'sessions resume try --continuation transcript',
  ],
  'sessions kill': ['sessions kill try', 'sessions kill s_1a2b s_3c4d --reason budget_exceeded'],
  'sessions rm': ['sessions rm try'],
  'sessions show': ['sessions show try', 'sessions show try --json'],
  'sessions config': [
    'sessions config try',
    'sessions config try --model demo-2 --mode plan',
    'sessions config try --permissions approve-all',
  ],
  'sessions fork': ['sessions fork try --label other', 'sessions fork try -p "and now in Rust"'],
  'sessions answer': [
    'sessions answer try --allow',
    'sessions answer try --allow --remember session',
    'sessions answer try --option reject-once',
    'sessions answer try --content \'{"colour": "red"}\'',
  ],
  'sessions logs': ['sessions logs try -n 20', 'sessions logs try -f'],
  'sessions events': ['sessions events try', 'sessions events try -f --json', 'sessions events try --after 120'],
  'sessions search': ['sessions search "connection refused"', 'sessions search cart --adapter opencode --json'],
  'sessions export': ['sessions export try -o try.jsonl', 'sessions export try --format md'],
  'sessions import': ['sessions import try.jsonl'],
  'sessions prune': ['sessions prune --older-than 30d --dry-run', 'sessions prune --older-than 12h'],
  'sessions repair': ['sessions repair try --dry-run', 'sessions repair try'],
  'permissions list': ['permissions list', 'permissions list --session try --json'],
  'permissions allow': [
    'permissions allow --command "npm run *"',
    'permissions allow --tool read --path "src/**" --session try',
  ],
  'permissions deny': ['permissions deny --tool edit --path ".github/**" --workspace shop'],
  'permissions remove': ['permissions remove pr_1a2b', 'permissions remove pr_1a2b --session try'],
  'service install': ['service install', 'service install --print'],
  'service uninstall': ['service uninstall'],
  'workspace add': ['workspace add . --use', 'workspace add ~/code/shop --slug shop --label "Web shop"'],
  'workspace list': ['workspace list', 'workspace list --json'],
  'workspace remove': ['workspace remove shop'],
  'workspace show': ['workspace show', 'workspace show shop --json'],
  'workspace use': ['workspace use shop'],
  'workspace trust': ['workspace trust shop'],
  'workspace distrust': ['workspace distrust shop'],
  'adapters list': ['adapters list', 'adapters list --json'],
  'adapters show': ['adapters show opencode'],
  'adapters add': ['adapters add ./my-agent', 'adapters add @acme/our-agent'],
  'adapters doctor': ['adapters doctor opencode', 'adapters doctor demo --live'],
  'adapters install': ['adapters install opencode', 'adapters install opencode --force'],
  'adapters setup': ['adapters setup shop --input url=http://127.0.0.1:9000'],
  'adapters login': ['adapters login claude-code'],
  manifest: ['manifest validate my-agent/AGENT-CLI.md'],
  'secrets set': ['secrets set anthropic-api-key', 'printf %s "$KEY" | agentproto secrets set acme/key'],
  'secrets list': ['secrets list'],
  'secrets rm': ['secrets rm acme/key'],
  'config list': ['config list', 'config list --json'],
  'config get': ['config get sessions.maxSessions'],
  'config set': [
    'config set sessions.idleMs 300000',
    'config set allowedHosts agents.example,agents.internal',
    'config set executables.claude /opt/claude/bin/claude',
  ],
  'config unset': ['config unset sessions.idleMs'],
  complete: ['complete -- sessions pro'],
  'token create': ['token create --name ci --scope operate --workspace shop'],
  'token list': ['token list'],
  'token revoke': ['token revoke ci'],
  'token rotate': ['token rotate ci'],
}

const TITLE = '\nExamples:\n'

/** Adds to each command's help what people type. */
export function addExamples(command: Command, path: readonly string[] = []): void {
  const examples = EXAMPLES[path.join(' ')]
  if (examples !== undefined)
    command.addHelpText('after', TITLE + examples.map((each) => `  $ ${whole(each)}`).join('\n'))
  for (const child of command.commands) addExamples(child, [...path, child.name()])
}

const whole = (example: string): string => (example.includes('| agentproto ') ? example : `agentproto ${example}`)
