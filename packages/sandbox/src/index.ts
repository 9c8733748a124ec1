// Sandbox providers (AIP-36). This file is the package's contract: every export is named here.
export { addressReach } from './address-reach.js'
export { createSandboxes, type ConfinedLaunch, type Sandboxes, type SandboxesOptions } from './create-sandboxes.js'
export type {
  ConfinementProfile,
  HeldSandbox,
  HoldRequest,
  KeptSandbox,
  PreparedLaunch,
  SandboxMount,
  SandboxProvider,
  SandboxRequest,
} from './sandbox-provider.js'
export type { RegisteredProvider } from './registered-provider.js'
