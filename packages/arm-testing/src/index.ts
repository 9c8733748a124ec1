// The conformance suite of protocol arms and adapters. This file is the package's contract: every export is named here.
export { testArm } from './test-arm.js'
export { fixtureAgentPath, fixtureLaunch, launchOf } from './subject.js'
export type { ArmSubject, StartName, TurnName } from './subject.js'
export { RecordingSink } from './recording-sink.js'
export { leftovers } from './leftovers.js'
