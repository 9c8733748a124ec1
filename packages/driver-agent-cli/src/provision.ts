// Provisioning: from a manifest to an agent that can be started. This file is the subpath's contract.
export { createProvisioner } from './provision/provisioner.js'
export type { Provisioner } from './provision/provisioner.js'
export type { OauthParts, ProvisionHost, Question, Terminal, TerminalProgram } from './provision/provision-host.js'
export { addAdapter } from './provision/add-adapter.js'
