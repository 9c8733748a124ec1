// AIP-44: the Agent Client Protocol as canonical events. This file is the package's contract: every export is named here.
export { acpArm, adoptAcp, adoptSharedAcp, connectAcp } from './arm.js'
export type { AcpConnection } from './arm.js'
export { AcpClient } from './client.js'
export type { AuthMethod } from './capabilities.js'
export type { AcpClientOptions } from './client.js'
export { defineAcp } from './define-acp.js'
export type { AcpHandle, AcpProfile } from './define-acp.js'
export type { ProcessWatch, TurnOutcome } from '@agentproto/arm-kit'
