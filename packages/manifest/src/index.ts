// AGENT-CLI.md and its siblings, checked. This file is the package's contract: every export is named here.
export { parseAgentCli } from './parse-agent-cli.js'
export type { ParseAgentCliOptions } from './parse-agent-cli.js'
export type { ParseOptions, ParseResult } from './parse-manifest.js'
export { parseAcp } from './parse-acp.js'
export type { AcpAgentCapabilities, AcpProfile, AcpTier } from './parse-acp.js'
export { parseSecrets } from './parse-secrets.js'
export type { SecretDeclaration, SecretsManifest } from './parse-secrets.js'
export { parseSandbox } from './parse-sandbox.js'
export type { ParseSandboxOptions } from './parse-sandbox.js'
export { parseRunner } from './parse-runner.js'
export type { RunnerProfile } from './parse-runner.js'
export { configSchema } from './config-schema.js'
export { parseConfig } from './parse-config.js'
export type { GatewayConfig } from './parse-config.js'
export { compileLaunch } from './compile-launch.js'
export { fillTemplate } from './fill-template.js'
export type { CompiledLaunch, LaunchRequest, OptionValue } from './compile-launch.js'
export { declaredVariables } from './declared-variables.js'
export { formatProblem, PROBLEM_CODES } from './problem.js'
export type { ManifestProblem, ProblemCode } from './problem.js'
export { SANDBOX_PROVIDERS } from './sandbox-rules.js'
export type { AgentCliDocument, CapabilityName, ContinuationStrategy, KeyScope } from './agent-cli-document.js'
export { INSTALL_METHODS } from './agent-cli-manifest.js'
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
