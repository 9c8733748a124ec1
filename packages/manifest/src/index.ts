// Reads and checks AGENT-CLI.md and the other manifests. This file is the package's contract: every export is named here.
export { parseAgentCli } from './parse-agent-cli.js'
export type { ParseAgentCliOptions } from './parse-agent-cli.js'
export type { ParseOptions, ParseResult } from './parse-manifest.js'
export { parseAcp } from './acp-profile.js'
export type { AcpAgentCapabilities, AcpProfile, AcpTier } from './acp-profile.js'
export { parseSecrets } from './secrets-manifest.js'
export type { SecretDeclaration, SecretsManifest } from './secrets-manifest.js'
export { parseSandbox } from './sandbox-profile.js'
export type { ParseSandboxOptions } from './sandbox-profile.js'
export { parseRunner } from './runner-profile.js'
export type { RunnerProfile } from './runner-profile.js'
export { configSchema } from './schemas.js'
export { parseConfig } from './gateway-config.js'
export type { GatewayConfig } from './gateway-config.js'
export { compileLaunch } from './compile-launch.js'
export { fillTemplate } from './fill-template.js'
export type { CompiledLaunch, LaunchRequest, OptionValue } from './compile-launch.js'
export { declaredVariables } from './declared-variables.js'
export { formatProblem, PROBLEM_CODES } from './problem.js'
export type { ManifestProblem, ProblemCode } from './problem.js'
export { SANDBOX_PROVIDERS } from './sandbox-profile.js'
export type { AgentCliDocument, CapabilityName, ContinuationStrategy, KeyScope } from './agent-cli-document.js'
export { INSTALL_METHODS, PACKAGE_MANAGERS } from './agent-cli-manifest.js'
export type {
  AgentCliManifest,
  AgentCliWire,
  Auth,
  Continuation,
  InstallMethod,
  ManifestCapabilities,
  McpWire,
  Mode,
  Models,
  Option,
  PackageManager,
  Persist,
  Requires,
  SandboxProfile,
  SandboxSource,
  SessionPolicy,
  SetupStep,
  SkipIf,
  VersionCheck,
} from './agent-cli-manifest.js'
