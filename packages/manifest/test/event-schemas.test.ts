import {
  type Envelope,
  HOST_EVENT_TYPES,
  type HostEvent,
  type Session,
  STREAM_EVENT_TYPES,
  type StreamEvent,
} from '@agentproto/contracts'
import { expect, test } from 'vitest'
import session from '../src/schemas/session.schema.json' with { type: 'json' }
import streamEvent from '../src/schemas/stream-event.schema.json' with { type: 'json' }

// The contracts are the source of what is sent; the compiler checks these tables against them, and the tests
// check the schemas against the tables. What a gateway really sends is held against them in the runtime's tests.

/** Every key of a type, and whether it may be absent; of a union also those that only one of its members has. */
type Shape<T, Without = never> = {
  readonly [K in Exclude<KeyOfAny<T>, Without>]: K extends keyof T
    ? object extends Pick<T, K>
      ? 'optional'
      : 'required'
    : 'optional'
}
type KeyOfAny<T> = T extends unknown ? keyof T : never
type Event = StreamEvent | HostEvent
type EventShapes = { readonly [K in Event['type']]: Shape<Extract<Event, { type: K }>, 'type'> }

const tool = {
  toolName: 'optional',
  title: 'optional',
  kind: 'optional',
  locations: 'optional',
  content: 'optional',
  input: 'optional',
  output: 'optional',
} as const

const events: EventShapes = {
  'text-delta': { text: 'required', messageId: 'optional' },
  thought: { text: 'required', messageId: 'optional' },
  'tool-call': { toolCallId: 'required', status: 'optional', ...tool },
  'tool-result': { toolCallId: 'required', status: 'required', ...tool },
  'agent-prompt': { requestId: 'required', request: 'required', facts: 'optional' },
  'turn-end': { reason: 'required', empty: 'optional', usage: 'optional' },
  error: { message: 'required', agentCode: 'optional', stderrTail: 'optional', data: 'optional' },
  'user-prompt': {
    content: 'required',
    origin: 'optional',
    preface: 'optional',
    queuedAt: 'optional',
    traceparent: 'optional',
    idempotency: 'optional',
    sent: 'optional',
  },
  status: {
    status: 'required',
    previous: 'optional',
    exitCode: 'optional',
    stopReason: 'optional',
    failure: 'optional',
  },
  'agent-prompt-resolved': { requestId: 'required', answer: 'required', by: 'required' },
  plan: { entries: 'required' },
  usage: { used: 'optional', size: 'optional', cost: 'optional' },
  config: { config: 'required', permissionMode: 'optional', by: 'optional' },
  title: { title: 'required' },
  output: { stream: 'required', text: 'required' },
  notice: { severity: 'required', text: 'required' },
  extension: { kind: 'required', payload: 'required' },
  'runtime-progress': { elapsedMs: 'required', idleMs: 'required', currentTool: 'optional', message: 'optional' },
  'runtime-warning': { message: 'required', idleMs: 'optional' },
  checkpoint: {
    id: 'required',
    files: 'required',
    additions: 'required',
    deletions: 'required',
    total: 'optional',
    leftOut: 'optional',
  },
  'checkpoint-skipped': { reason: 'required', detail: 'optional' },
  rewound: { to: 'required', before: 'required', files: 'required', total: 'optional' },
  repair: { detail: 'required' },
  'session-stopped': {
    status: 'required',
    stopReason: 'required',
    failure: 'optional',
    exitCode: 'optional',
    signal: 'optional',
  },
}

const envelope: Shape<Envelope> & { readonly type: 'required' } = {
  seq: 'required',
  ts: 'required',
  sessionId: 'required',
  type: 'required',
  turn: 'optional',
  cut: 'optional',
}

const record: Shape<Session> = {
  id: 'required',
  adapterSlug: 'required',
  workspaceSlug: 'required',
  cwd: 'required',
  status: 'required',
  startedAt: 'required',
  endedAt: 'optional',
  lastOutputAt: 'optional',
  exitCode: 'optional',
  label: 'optional',
  hostId: 'required',
  type: 'required',
  state: 'required',
  attachable: 'required',
  wakeable: 'required',
  title: 'optional',
  turnCount: 'required',
  unsentTurns: 'optional',
  turn: 'required',
  lastActiveAt: 'required',
  connection: 'required',
  stopReason: 'optional',
  failure: 'optional',
  signal: 'optional',
  resumable: 'required',
  killedAt: 'optional',
  health: 'optional',
  failedResumes: 'optional',
  kept: 'optional',
  expiresAt: 'optional',
  resumedHow: 'optional',
  instructed: 'optional',
  envelope: 'optional',
  agentSessionId: 'optional',
  worktree: 'optional',
  movedFrom: 'optional',
  movedTo: 'optional',
  onHostLoss: 'optional',
  forkedFrom: 'optional',
  agent: 'optional',
  config: 'optional',
  permissionMode: 'required',
  sandbox: 'optional',
  additionalDirectories: 'optional',
  warnings: 'required',
  pendingRequests: 'required',
  queuedPrompts: 'optional',
  lastSeq: 'required',
  imported: 'optional',
  parentSessionId: 'optional',
  rootSessionId: 'optional',
  depth: 'optional',
  delegation: 'optional',
  usage: 'optional',
  budget: 'optional',
  changes: 'optional',
  reviewed: 'optional',
}

interface ObjectSchema {
  readonly $ref?: string
  readonly required?: readonly string[]
  readonly properties?: object
}

const resolved = (schema: ObjectSchema): ObjectSchema => {
  const name = schema.$ref?.replace('#/$defs/', '')
  return name === undefined ? schema : ((streamEvent.$defs as Record<string, ObjectSchema>)[name] ?? schema)
}

function shapeOf(schema: ObjectSchema): Readonly<Record<string, string>> {
  const { properties = {}, required = [] } = resolved(schema)
  return Object.fromEntries(
    Object.keys(properties).map((key) => [key, required.includes(key) ? 'required' : 'optional']),
  )
}

test('the session schema has the keys of the contract', () => {
  expect(shapeOf(session)).toEqual(record)
})

test('the envelope of an event has the keys of the contract', () => {
  expect(shapeOf(streamEvent)).toEqual(envelope)
})

test('the event schema has a branch for each type of the contract, with its keys', () => {
  const branches = streamEvent.allOf.map((branch) => [branch.if.properties.type.const, shapeOf(branch.then)])
  expect(Object.fromEntries(branches)).toEqual(events)
  const types = [...STREAM_EVENT_TYPES, ...HOST_EVENT_TYPES].toSorted()
  expect(streamEvent.properties.type.enum.toSorted()).toEqual(types)
})
