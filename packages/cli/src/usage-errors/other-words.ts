/**
 * Words that people type because other tools have them. Those of `OTHER_WORDS` work; docs/cli.md lists them, and a test
 * compares. Those of `MEANT_WORDS` could be understood in two ways or end something, so that they are only suggested.
 */

/** By group (the empty name is the program) and word: what the word stands for. `ls -a` is a word with its option. */
export const OTHER_WORDS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  '': {
    ls: ['sessions'],
    list: ['sessions'],
    ps: ['sessions'],
    'ps -a': ['sessions', '--all'],
    'ls -a': ['sessions', '--all'],
    watch: ['sessions', '--watch'],
    top: ['sessions', '--watch'],
    attach: ['sessions', '--attach'],
    new: ['sessions', 'start'],
    send: ['sessions', 'prompt'],
    exec: ['run'],
    version: ['--version'],
    install: ['adapters', 'install'],
    setup: ['adapters', 'setup'],
    login: ['adapters', 'login'],
    session: ['sessions'],
    adapter: ['adapters'],
    agent: ['adapters'],
    agents: ['adapters'],
    workspaces: ['workspace'],
    tokens: ['token'],
    permission: ['permissions'],
    secret: ['secrets'],
    remotes: ['remote'],
  },
  sessions: {
    ls: [],
    list: [],
    ps: [],
    watch: ['--watch'],
    attach: ['--attach'],
    new: ['start'],
    create: ['start'],
    send: ['prompt'],
    remove: ['rm'],
    delete: ['rm'],
    inspect: ['show'],
    info: ['show'],
    get: ['show'],
  },
  adapters: { ls: ['list'], rm: ['remove'], uninstall: ['remove'], info: ['show'], get: ['show'] },
  workspace: { ls: ['list'], rm: ['remove'], new: ['add'], create: ['add'], info: ['show'], switch: ['use'] },
  permissions: { ls: ['list'], rm: ['remove'], delete: ['remove'] },
  secrets: { ls: ['list'], add: ['set'], remove: ['rm'], delete: ['rm'] },
  token: { ls: ['list'], add: ['create'], new: ['create'], rm: ['revoke'], remove: ['revoke'], delete: ['revoke'] },
  remote: { ls: ['list'], add: ['login'], set: ['login'], rm: ['logout'], remove: ['logout'], delete: ['logout'] },
  config: { ls: ['list'], show: ['list'], rm: ['unset'] },
  manifest: { check: ['validate'], new: ['init'] },
}

type Meaning = (rest: readonly string[]) => readonly (readonly string[])[]

/** Agents by the names of their own commands: `claude "fix it"`. */
const agent =
  (slug: string): Meaning =>
  (rest) => [rest.length === 0 ? ['sessions', 'start', slug, '--attach'] : ['run', slug, ...rest]]

/** Of an agent, or of agentproto itself. */
const upgrade: Meaning = (rest) => [
  rest.length === 0 ? ['restart', '--help'] : ['adapters', 'install', ...rest, '--force'],
]

/** What may be meant, as whole command lines from the rest of the given one. */
export const MEANT_WORDS: Readonly<Record<string, Readonly<Record<string, Meaning>>>> = {
  '': {
    claude: agent('claude-code'),
    codex: agent('codex'),
    gemini: agent('gemini-cli'),
    chat: (rest) => [['sessions', 'start', ...orDemo(rest), '--attach']],
    talk: (rest) => [['sessions', 'start', ...orDemo(rest), '--attach']],
    pause: (rest) => [['sessions', 'interrupt', ...rest]],
    cancel: (rest) => [['sessions', 'interrupt', ...rest]],
    end: (rest) => [['sessions', 'kill', ...rest]],
    approve: (rest) => [['sessions', 'answer', ...rest, '--allow']],
    allow: (rest) => [['sessions', 'answer', ...rest, '--allow']],
    deny: (rest) => [['sessions', 'answer', ...rest, '--deny']],
    init: () => [['workspace', 'add', '.', '--use']],
    up: () => [['serve', '--detach']],
    daemon: () => [['serve', '--detach']],
    gateway: () => [['serve', '--detach']],
    server: () => [['serve', '--detach']],
    down: () => [['stop']],
    shutdown: () => [['stop']],
    ui: () => [['open']],
    dashboard: () => [['open']],
    console: () => [['open']],
    health: () => [['status']],
    ping: () => [['status']],
    cost: (rest) => [['usage', ...rest]],
    stats: (rest) => [['usage', ...rest]],
    tail: (rest) => [['sessions', 'logs', ...rest]],
    models: (rest) => [['sessions', 'config', ...rest]],
    update: upgrade,
    upgrade,
  },
  sessions: {
    stop: (rest) => [
      ['sessions', 'interrupt', ...rest],
      ['sessions', 'kill', ...rest],
    ],
    cancel: (rest) => [['sessions', 'interrupt', ...rest]],
    pause: (rest) => [['sessions', 'interrupt', ...rest]],
    end: (rest) => [['sessions', 'kill', ...rest]],
    terminate: (rest) => [['sessions', 'kill', ...rest]],
    approve: (rest) => [['sessions', 'answer', ...rest, '--allow']],
    deny: (rest) => [['sessions', 'answer', ...rest, '--deny']],
    cost: (rest) => [['sessions', 'show', ...rest]],
    tail: (rest) => [['sessions', 'logs', ...rest]],
  },
  adapters: {
    update: upgrade,
    upgrade,
  },
}

const orDemo = (rest: readonly string[]): readonly string[] => (rest.length === 0 ? ['demo'] : rest)

/** Options of other tools, and ours for the same. */
export const MEANT_OPTIONS: Readonly<Record<string, readonly string[]>> = {
  '--name': ['--label'],
  '--title': ['--label'],
  '--dir': ['--cwd'],
  '--directory': ['--cwd'],
  '--folder': ['--cwd'],
  '--path': ['--cwd'],
  '-C': ['--cwd'],
  '-m': ['--prompt'],
  '--message': ['--prompt'],
  '--branch': ['--worktree'],
  '--quiet': ['--output', 'quiet'],
  '-q': ['--output', 'quiet'],
  '--tail': ['--lines'],
  '--background': ['--detach'],
  '-d': ['--detach'],
  '--live': ['--alive'],
  '--running': ['--alive'],
  '--agent': ['--adapter'],
  '--format=json': ['--json'],
  '--output=json': ['--json'],
}

/** What excess arguments of a command mean, by its words. */
export const MEANT_ARGUMENTS: Readonly<Record<string, Meaning>> = {
  stop: (rest) => [['sessions', 'kill', ...rest]],
  restart: (rest) => [['sessions', 'resume', ...rest]],
  logs: (rest) => [['sessions', 'logs', ...rest]],
  status: (rest) => [['sessions', 'show', ...rest]],
  'adapters list': (rest) => [['adapters', 'show', ...rest]],
  'workspace list': (rest) => [['workspace', 'show', ...rest]],
  'config list': (rest) => [['config', 'get', ...rest]],
  serve: () => [['serve', '--detach']],
}
