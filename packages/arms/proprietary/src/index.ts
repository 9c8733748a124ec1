// AIP-45 `protocol: proprietary`: an adapter package drives the agent. This file is the package's contract: every export is named here.
export { adoptProprietary, connectProprietary, proprietaryArm } from './arm.js'
export type { AllowedAdapter, ProprietaryProfile } from './profile.js'
