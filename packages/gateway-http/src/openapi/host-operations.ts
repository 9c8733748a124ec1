import {
  addAdapterSchema,
  addWorkspaceSchema,
  createTokenSchema,
  doctorRequestSchema,
  provisionRequestSchema,
} from '@agentproto/contracts'
import type { ErrorCode } from '@agentproto/contracts'
import { exchangeQuerySchema } from '../query-schemas.js'
import * as is from './answers.js'
import { answer, type Operation, type Operations, tagged } from './operation.js'

const ADAPTER: readonly ErrorCode[] = ['adapter_not_found']

const provision = (id: string, summary: string, problems: readonly ErrorCode[]): Operation => ({
  id,
  summary,
  body: provisionRequestSchema,
  answers: {
    200: answer('How far it is now', is.adapterState, {
      stream: 'What happens; `state` is the last. The work goes on when its reader leaves',
    }),
  },
  problems: [
    ...ADAPTER,
    'install_failed',
    'version_mismatch',
    'provisioning_busy',
    'stream_limit_reached',
    'workspace_not_found',
    'path_invalid',
    'timeout',
    ...problems,
  ],
})

/** Everything that is of the gateway and not of one session. */
export const hostOperations: Operations = {
  'GET /health': {
    id: 'health',
    summary: 'Whether a gateway is here',
    answers: { 200: answer('It is', is.health) },
    open: true,
  },
  'GET /openapi.json': {
    id: 'openApi',
    summary: 'This document',
    answers: { 200: answer('OpenAPI 3.1', is.openApi) },
  },
  'GET /metrics': {
    id: 'metrics',
    summary: 'What is measured, in Prometheus’ text format',
    answers: { 200: { description: 'Counters and gauges', text: 'text/plain' } },
  },
  'GET /events': {
    id: 'watchSessions',
    summary: 'Follows the changes of all sessions',
    answers: { 200: { description: '`ready` first, then `session` and `forgotten`', streamOnly: true } },
    problems: ['stream_limit_reached'],
  },
  'GET /requests': {
    id: 'listRequests',
    summary: 'What waits for a person in all sessions',
    answers: tagged('Pending requests, and interrupted ones of sessions that can be resumed', is.agentRequests),
  },
  'GET /workspaces': {
    id: 'listWorkspaces',
    summary: 'The named folders (AIP-46 §Workspaces)',
    answers: tagged('The workspaces file', is.workspaces),
  },
  'POST /workspaces': {
    id: 'addWorkspace',
    summary: 'Names a folder',
    body: addWorkspaceSchema,
    answers: { 201: answer('The workspace', is.workspace, { headers: ['Location'] }) },
    problems: ['workspace_exists', 'workspace_invalid', 'path_invalid', 'storage_failed'],
  },
  'DELETE /workspaces/:slug': {
    id: 'removeWorkspace',
    summary: 'Forgets the name; the folder stays',
    answers: { 200: answer('It is removed', is.removed) },
    problems: ['workspace_not_found', 'storage_failed'],
  },
  'POST /workspaces/:slug/use': {
    id: 'useWorkspace',
    summary: 'Makes it the active one',
    answers: { 200: answer('The workspace, active', is.workspace) },
    problems: ['workspace_not_found', 'storage_failed'],
  },
  'GET /adapters': {
    id: 'listAdapters',
    summary: 'What can be started',
    answers: tagged('The adapters', is.adapters),
  },
  'POST /adapters': {
    id: 'addAdapter',
    summary: 'Adds an adapter of the owner’s',
    body: addAdapterSchema,
    answers: { 201: answer('The adapter', is.adapter, { headers: ['Location'] }) },
    problems: ['manifest_invalid', 'path_invalid', 'install_failed'],
  },
  'GET /adapters/:slug': {
    id: 'getAdapter',
    summary: 'One adapter',
    answers: { 200: answer('The adapter', is.adapter) },
    problems: ADAPTER,
  },
  'GET /adapters/:slug/state': {
    id: 'getAdapterState',
    summary: 'How far its agent is installed, checked, set up and logged in; nothing is run',
    answers: { 200: answer('The state', is.adapterState) },
    problems: ADAPTER,
  },
  'POST /adapters/:slug/install': provision('installAgent', 'Installs the agent', []),
  'POST /adapters/:slug/setup': provision('setUpAgent', 'Sets the agent up', ['setup_required', 'setup_failed']),
  'POST /adapters/:slug/login': provision('logInAgent', 'Logs the agent in', [
    'setup_required',
    'setup_failed',
    'auth_required',
  ]),
  'POST /adapters/:slug/doctor': {
    id: 'examineAgent',
    summary: 'Examines the agent',
    body: doctorRequestSchema,
    answers: { 200: answer('The report', is.report, { stream: 'A `check` a finding; `report` is the last' }) },
    problems: [...ADAPTER, 'stream_limit_reached'],
  },
  'GET /tokens': {
    id: 'listTokens',
    summary: 'The named tokens, without their values',
    answers: tagged('All of them', is.tokens),
  },
  'POST /tokens': {
    id: 'createToken',
    summary: 'Makes a token; its value is told this once',
    body: createTokenSchema,
    answers: { 201: answer('The token', is.newToken, { headers: ['Location'] }) },
    problems: ['token_exists', 'token_limit_reached', 'storage_failed'],
  },
  'DELETE /tokens/:name': {
    id: 'revokeToken',
    summary: 'Ends a token, and its open streams with it',
    answers: { 200: answer('It is nobody’s', is.revoked) },
    problems: ['token_not_found', 'storage_failed'],
  },
  'POST /tokens/:name/rotate': {
    id: 'rotateToken',
    summary: 'Gives a token a new value',
    answers: { 200: answer('The token', is.newToken) },
    problems: ['token_not_found', 'storage_failed'],
  },
  'POST /auth/code': {
    id: 'createBrowserCode',
    summary: 'Makes a code that lets in one browser, once and within a minute',
    answers: { 201: answer('The code, and the path to open', is.browserCode) },
    problems: ['token_limit_reached'],
  },
  'GET /auth/exchange': {
    id: 'exchangeBrowserCode',
    summary: 'Takes a code for a cookie that no script reads; it stands for a named token of 12 hours',
    query: exchangeQuerySchema,
    answers: { 200: answer('The cookie is set', is.browserLogin, { headers: ['Set-Cookie'] }) },
    problems: ['unauthorized', 'token_limit_reached', 'storage_failed'],
    open: true,
  },
  'GET /secrets': {
    id: 'listSecrets',
    summary: 'Which secrets there are and which are set; never a value',
    answers: tagged('Their status', is.secrets),
  },
}
