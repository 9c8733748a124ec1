// Reads and checks AGENT-CLI.md and the other manifests. This file is the package's contract: every export is named here.
export { parseAgentCli } from './parse-agent-cli.js'
export type { ParseAgentCliOptions, ParseOptions, ParseResult } from './parse-manifest.js'
export { parseAcp, type AcpAgentCapabilities, type AcpProfile, type AcpTier } from './acp-profile.js'
export { parseSecrets, type SecretDeclaration, type SecretsManifest } from './secrets-manifest.js'
export { parseSandbox, SANDBOX_PROVIDERS } from './sandbox-profile.js'
export { parseRunner } from './runner-profile.js'
export { configSchema } from './schemas.js'
export { isAdapterId, manifestTemplate, type AgentAnswers, type TemplateOptions } from './manifest-template.js'
export { type AgentEndpoint, fillSecrets } from './agent-endpoint.js'
export { remoteAddress } from './agent-cli-wire.js'
export { ownModes } from './own-modes.js'
export { answersOf, observedBlock, observedMembers } from './observed-agent.js'
export { SCHEMA_FILES, type SchemaFile } from './schema-names.js'
export { MANIFEST_NAMES, type ManifestName } from './manifest-name.js'
export { parseConfig, type GatewayConfig } from './gateway-config.js'
export { compileLaunch, type CompiledLaunch, type LaunchRequest, type OptionValue } from './compile-launch.js'
export { fillTemplate } from './fill-template.js'
export { isSecretVariable } from './secret-value-rule.js'
export { declaredVariables } from './declared-variables.js'
export { formatProblem, PROBLEM_CODES, type ManifestProblem, type ProblemCode } from './problem.js'
export type { AgentCliDocument, ContinuationStrategy, KeyScope } from './agent-cli-document.js'
export {
  INSTALL_METHODS,
  PACKAGE_MANAGERS,
  type AgentCliManifest,
  type Auth,
  type Continuation,
  type InstallMethod,
  type Option,
  type PackageManager,
  type SandboxProfile,
  type SetupStep,
} from './agent-cli-manifest.js'
