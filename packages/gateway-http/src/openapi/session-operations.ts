import {
  answerRequestSchema,
  configRequestSchema,
  eventsQuerySchema,
  forkRequestSchema,
  interruptRequestSchema,
  killRequestSchema,
  listQuerySchema,
  outputQuerySchema,
  promptRequestSchema,
  resumeRequestSchema,
  spawnAgentSchema,
  turnQuerySchema,
  turnsQuerySchema,
} from '@agentproto/contracts'
import type { ErrorCode } from '@agentproto/contracts'
import { agentSpawnSchema, streamQuerySchema } from '../query-schemas.js'
import * as is from './answers.js'
import { answer, type Operations, tagged } from './operation.js'

const SESSION: readonly ErrorCode[] = ['session_not_found']
/** What can go wrong when an agent is started. */
const START: readonly ErrorCode[] = [
  'adapter_not_found',
  'no_adapter_installed',
  'agent_not_installed',
  'auth_required',
  'setup_required',
  'workspace_not_found',
  'cwd_invalid',
  'cwd_not_allowed',
  'mode_unknown',
  'option_invalid',
  'continuation_unsupported',
  'manifest_invalid',
  'sandbox_unavailable',
  'sandbox_read_only',
  'session_limit_reached',
  'delegation_denied',
  'cwd_outside_parent',
  'max_depth_exceeded',
  'child_quota_exceeded',
  'idempotency_conflict',
  'spawn_failed',
  'handshake_failed',
  'protocol_error',
  'timeout',
  'shutting_down',
  'storage_failed',
]
const TURN: readonly ErrorCode[] = [
  'turn_in_progress',
  'queue_full',
  'session_ended',
  'session_starting',
  'idempotency_conflict',
  'not_resumable',
  'storage_failed',
  'stream_limit_reached',
]
const STREAM: readonly ErrorCode[] = ['stream_limit_reached']

const created = { 201: answer('The session, running', is.session, { headers: ['Location'] }) }

/** `/sessions` and what is below (AIP-46 §HTTP surface, DESIGN's additions). */
export const sessionOperations: Operations = {
  'GET /sessions': {
    id: 'listSessions',
    summary: 'Lists sessions, the newest first',
    query: listQuerySchema,
    answers: tagged('One page', is.sessionPage),
  },
  'POST /sessions/agent': {
    id: 'spawnAgent',
    summary: 'Starts an agent; answers when it runs, with a prompt once that is admitted',
    body: spawnAgentSchema,
    answers: created,
    problems: START,
  },
  'GET /sessions/:id': {
    id: 'getSession',
    summary: 'One session',
    answers: tagged('The session', is.session),
    problems: SESSION,
  },
  'DELETE /sessions/:id': {
    id: 'forgetSession',
    summary: 'Ends the session where needed, then forgets it and its log',
    answers: { 200: answer('It is forgotten', is.acknowledged) },
    problems: [...SESSION, 'termination_failed'],
  },
  'POST /sessions/:id/prompt': {
    id: 'promptSession',
    summary: 'Sends a prompt: one turn',
    body: promptRequestSchema,
    answers: {
      200: answer('With `wait`, the finished turn', is.promptFinished, { stream: 'The events of that turn' }),
      202: answer('The prompt is admitted', is.promptAccepted),
    },
    problems: [...SESSION, ...TURN, ...START],
  },
  'POST /sessions/:id/interrupt': {
    id: 'interruptSession',
    summary: 'Ends the running turn, or the one that is named; the session lives on',
    body: interruptRequestSchema,
    answers: { 200: answer('No turn runs any more', is.interrupted) },
    problems: SESSION,
  },
  'POST /sessions/:id/cancel': {
    id: 'cancelSession',
    summary: 'The same as interrupt',
    body: interruptRequestSchema,
    answers: { 200: answer('No turn runs any more', is.interrupted) },
    problems: SESSION,
  },
  'POST /sessions/:id/config': {
    id: 'configureSession',
    summary: 'Sets mode, model and options of the running agent, and how its requests are answered',
    body: configRequestSchema,
    answers: { 200: answer('The session, set', is.session) },
    problems: [...SESSION, 'session_ended', 'session_starting', 'not_supported', 'mode_unknown', 'option_invalid'],
  },
  'POST /sessions/:id/fork': {
    id: 'forkSession',
    summary: 'Begins a new session with what was said so far',
    body: forkRequestSchema,
    answers: created,
    problems: [...SESSION, ...START, 'not_supported', 'turn_in_progress'],
  },
  'POST /sessions/:id/resume': {
    id: 'resumeSession',
    summary: 'Starts the agent of an ended session again',
    body: resumeRequestSchema,
    answers: { 200: answer('The session, running again', is.session) },
    problems: [...SESSION, ...START, 'session_live', 'not_resumable', 'session_starting'],
  },
  'POST /sessions/:id/kill': {
    id: 'killSession',
    summary: 'Ends the session; answers when nothing of its process tree lives',
    body: killRequestSchema,
    answers: { 200: answer('`ok` is false when it had ended already', is.acknowledged) },
    problems: [...SESSION, 'termination_failed'],
  },
  'GET /sessions/:id/output': {
    id: 'getOutput',
    summary: 'The last lines, the oldest first',
    query: outputQuerySchema,
    answers: { 200: answer('Lines', is.lines) },
    problems: SESSION,
  },
  'GET /sessions/:id/turns': {
    id: 'listTurns',
    summary: 'The turns of a session',
    query: turnsQuerySchema,
    answers: tagged('Those that have begun, oldest first', is.turns),
    problems: SESSION,
  },
  'GET /sessions/:id/turns/:turn': {
    id: 'getTurn',
    summary: 'One turn with its prompt and what it has put out; waits for its end when asked to',
    query: turnQuerySchema,
    answers: { 200: answer('The turn, or the prompt that waits for it', is.turnDetail) },
    problems: [...SESSION, 'turn_not_found', 'cancelled'],
  },
  'GET /sessions/:id/stream': {
    id: 'streamLines',
    summary: 'Follows a session as lines (AIP-46 §SSE event format)',
    query: streamQuerySchema,
    answers: {
      200: { description: 'Messages `line`, `status` and `gap`; ends with the session', streamOnly: true },
      204: { description: 'The session has ended and the cursor is at its end' },
    },
    problems: [...SESSION, ...STREAM],
  },
  'GET /sessions/:id/events': {
    id: 'readEvents',
    summary: 'The log: a page as JSON, or from there on as a stream',
    query: eventsQuerySchema,
    answers: {
      200: answer('A page', is.eventPage, { stream: 'Each event with its type and its number as `id`, and `gap`' }),
      204: { description: 'As a stream: the session has ended and the cursor is at its end' },
    },
    problems: [...SESSION, ...STREAM],
  },
  'GET /sessions/:id/requests': {
    id: 'listSessionRequests',
    summary: 'What the agent asked: pending, resolved and interrupted',
    answers: tagged('The requests', is.agentRequests),
    problems: SESSION,
  },
  'POST /sessions/:id/requests/:requestId': {
    id: 'answerRequest',
    summary: 'Answers a permission or a question',
    body: answerRequestSchema,
    answers: { 200: answer('The request, resolved', is.agentRequest) },
    problems: [...SESSION, 'request_not_found', 'request_resolved', 'request_interrupted'],
  },
  'GET /agents/:agent/sessions': {
    id: 'listAgentSessions',
    summary: 'Lists the sessions of one agent; below it are the routes of /sessions/{id}',
    query: listQuerySchema,
    answers: tagged('One page', is.sessionPage),
    problems: ['adapter_not_found'],
  },
  'POST /agents/:agent/sessions': {
    id: 'spawnThatAgent',
    summary: 'Starts a session of that agent',
    body: agentSpawnSchema,
    answers: created,
    problems: START,
  },
}
