/** Which workspace package may import which: the table of `docs/architecture.md`, as data. */

export interface Arrows {
  /** Names without their scope. Everybody may import `contracts`, so it is never named. */
  readonly may: readonly string[]
  /** Only by a dynamic `import()` or as types, so that a start does not pay for them. */
  readonly lazily?: readonly string[]
  /** Only as a development dependency, for what a test compares; never imported by `src`. */
  readonly inTests?: readonly string[]
}

const ARMS = ['acp', 'arm-mcp', 'arm-proprietary']
export const ALL_BUT_CLI: readonly string[] = [
  'acp',
  'acp-server',
  'adapter-gemini-cli',
  'adapter-pty-repl',
  'adapters',
  'arm-kit',
  'arm-mcp',
  'arm-proprietary',
  'client',
  'demo-agent',
  'driver-agent-cli',
  'gateway-http',
  'manifest',
  'mcp-tools',
  'provisioning',
  'sandbox',
  'secrets',
  'session-registry',
  'subprocess',
  'workspaces',
]

export const ARROWS: Readonly<Record<string, Arrows>> = {
  contracts: { may: [] },
  manifest: { may: [] },
  workspaces: { may: [] },
  secrets: { may: [] },
  subprocess: { may: [] },
  sandbox: { may: ['subprocess'] },
  'arm-kit': { may: ['subprocess'] },
  acp: { may: ['arm-kit', 'subprocess'] },
  'arm-mcp': { may: ['arm-kit'] },
  'arm-proprietary': { may: ['arm-kit', 'subprocess'] },
  'arm-testing': { may: [] },
  // Adapters are loaded by the arm that their tests put them under.
  'adapter-gemini-cli': { may: ['arm-kit', 'subprocess'], inTests: ['arm-proprietary'] },
  'adapter-pty-repl': { may: ['arm-kit', 'subprocess'], inTests: ['arm-proprietary'] },
  'driver-agent-cli': { may: ['manifest', 'subprocess'], lazily: [...ARMS, 'sandbox', 'secrets'] },
  provisioning: { may: ['driver-agent-cli', 'manifest', 'secrets', 'subprocess'] },
  'session-registry': { may: [] },
  'gateway-http': { may: [] },
  // The parity test sends the same request over both surfaces.
  'mcp-tools': { may: [], inTests: ['gateway-http'] },
  'acp-server': { may: ['subprocess'] },
  client: { may: [] },
  adapters: { may: [] },
  'demo-agent': { may: [] },
  runtime: { may: ALL_BUT_CLI },
  cli: {
    may: ['client', 'manifest', 'secrets', 'workspaces'],
    lazily: ['acp-server', 'mcp-tools', 'runtime', 'subprocess'],
  },
}

/** Packages that hold data or a program to test against: anybody may have them as a development dependency. */
export const TEST_GROUND: readonly string[] = ['adapters', 'arm-testing', 'demo-agent']
