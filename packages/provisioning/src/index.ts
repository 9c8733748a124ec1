// Provisioning: from a manifest to an agent that can be started. This file is the subpath's contract.
export { createProvisioner } from './provisioner.js'
export type { Provisioner } from './provisioner.js'
export type { OauthParts, ProvisionHost, Question, Terminal, TerminalProgram } from './provision-host.js'
export { addAdapter } from './add-adapter.js'
export { addEndpoint, planEndpoint, type EndpointParts, type EndpointPlan, type EndpointWish } from './add-endpoint.js'
export { addAdapterFiles, type AdapterTexts } from './add-adapter-files.js'
export { lookUpNpm, type NpmPackage, type NpmWish } from './npm-package.js'
export { findInstallTools, type FoundTools } from './install-tools.js'
