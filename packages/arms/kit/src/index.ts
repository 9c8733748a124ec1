// What a protocol arm is built of. This file is the package's contract: every export is named here.
export { connectProcess, exitMessage, NO_CAPABILITIES, startCancelled } from './connection.js'
export type { LineClient, ProcessConnection, WriteLine } from './connection.js'
export { Conversation } from './conversation.js'
export type { EmptyTurnWait, PermissionAsk, Turn, TurnOutcome, Verdict } from './conversation.js'
export type { UserRequest } from './pending-requests.js'
export type { ToolStatus, ToolUpdate } from './tool-calls.js'
export { within } from './within.js'
export type { Limit } from './within.js'
