/** Which workspace package may import which other. `docs/architecture.md` shows the same table. */

export interface Arrows {
  /** Names without the scope. Every package may import `contracts`, so it is not listed. */
  readonly may: readonly string[]
  /** Only as types or by a dynamic `import()`, so that they are not loaded at start. */
  readonly lazily?: readonly string[]
  /** Only as development dependencies, for tests; never imported by `src`. */
  readonly inTests?: readonly string[]
}

const ARMS = ['acp', 'arm-mcp', 'arm-proprietary']
export const ALL_BUT_CLI: readonly string[] = [
  'acp',
  'acp-registry',
  'acp-server',
  'adapter-gemini-cli',
  'adapter-pty-repl',
  'adapters',
  'arm-kit',
  'arm-mcp',
  'arm-proprietary',
  'changes',
  'client',
  'console',
  'demo-agent',
  'driver-agent-cli',
  'gateway-http',
  'json-file',
  'keeper',
  'manifest',
  'mcp-tools',
  'provisioning',
  'sandbox',
  'secrets',
  'server',
  'session-registry',
  'subprocess',
  'workspaces',
]

export const ARROWS: Readonly<Record<string, Arrows>> = {
  contracts: { may: [] },
  manifest: { may: [] },
  'json-file': { may: [] },
  'acp-registry': { may: ['json-file', 'manifest'] },
  workspaces: { may: ['json-file'] },
  secrets: { may: ['json-file'] },
  subprocess: { may: [] },
  // Its client alone: the program imports nothing.
  keeper: { may: ['subprocess'] },
  sandbox: { may: ['subprocess'] },
  changes: { may: ['subprocess'] },
  'arm-kit': { may: ['subprocess'] },
  acp: { may: ['arm-kit', 'subprocess'] },
  'arm-mcp': { may: ['arm-kit'] },
  'arm-proprietary': { may: ['arm-kit', 'subprocess'] },
  'arm-testing': { may: [] },
  // Adapters are loaded by the arm that their tests put them under.
  'adapter-gemini-cli': { may: ['arm-kit', 'subprocess'], inTests: ['arm-proprietary'] },
  'adapter-pty-repl': { may: ['arm-kit', 'subprocess'], inTests: ['arm-proprietary'] },
  'driver-agent-cli': { may: ['manifest', 'subprocess'], lazily: [...ARMS, 'sandbox', 'secrets'] },
  provisioning: {
    may: [
      'acp-registry',
      'adapters',
      'arm-testing',
      'driver-agent-cli',
      'json-file',
      'manifest',
      'secrets',
      'subprocess',
    ],
    inTests: ['workspaces'],
  },
  // Alone it imports NATS. It gets the services of its host and gives those of all hosts.
  fleet: { may: [], inTests: ['session-registry'] },
  'session-registry': { may: [] },
  'gateway-http': { may: [] },
  // The parity test sends the same request over both surfaces.
  'mcp-tools': { may: [], inTests: ['gateway-http'] },
  'acp-server': { may: ['subprocess'] },
  client: { may: [] },
  // Only the built files leave it; its page uses the client as any page could.
  console: { may: ['client'] },
  adapters: { may: ['manifest'] },
  'demo-agent': { may: [] },
  server: { may: ['subprocess'], inTests: ['secrets', 'workspaces'] },
  // Without a cluster nothing of NATS is loaded.
  runtime: { may: ALL_BUT_CLI, lazily: ['fleet'] },
  cli: {
    may: ['client', 'manifest', 'secrets', 'workspaces'],
    lazily: ['acp-server', 'keeper', 'mcp-tools', 'runtime', 'server', 'subprocess'],
  },
}

/** Packages with test data or test programs: every package may have them as development dependencies. */
export const TEST_SUPPORT: readonly string[] = ['adapters', 'arm-testing', 'demo-agent']
