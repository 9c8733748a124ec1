import type { ErrorCode } from '../errors.js'
import { admin, created, ok, open, type Operations, read, tagged } from './operation.js'
import * as ask from './host-requests.js'
import * as is from './host-responses.js'
import { waitingQuerySchema } from './waiting-query.js'
import { allRules, requestPage, rule, ruleRemoved, rules } from './session-responses.js'
import { notificationState, notificationTest } from './notification-responses.js'
import * as tools from './tools.js'

const WORKSPACE_RULES = ['workspace_not_found', 'cwd_invalid', 'storage_failed'] as const satisfies readonly ErrorCode[]

const provision = {
  calls: 'adapters.provision',
  body: ask.provisionRequestSchema,
  answers: ok(is.adapterState, 'The state of the adapter', {
    stream: 'Progress; `state` is the last message. The work continues when the client disconnects',
  }),
} as const
const PROVISION = [
  'adapter_not_found',
  'manifest_invalid',
  'install_failed',
  'version_mismatch',
  'provisioning_busy',
  'stream_limit_reached',
  'workspace_not_found',
  'path_invalid',
  'timeout',
] as const satisfies readonly ErrorCode[]

/** Everything that belongs to the gateway and not to one session. */
export const hostOperations = {
  'GET /health': open('health', {
    summary: 'Reports that a gateway is running',
    calls: 'health',
    answers: ok(is.health, 'It is running'),
  }),
  'GET /gateway': admin('showGateway', {
    summary: 'Returns what the gateway is: version, home, machine and the budgets of its configuration',
    calls: 'gateway',
    answers: ok(is.gatewayInfo, 'The gateway'),
  }),
  'GET /openapi.json': read('openApi', {
    summary: 'Returns this document',
    calls: 'openApi',
    answers: ok(is.openApi, 'OpenAPI 3.1', { etag: true }),
  }),
  'GET /metrics': read('metrics', {
    summary: 'Returns metrics in the text format of Prometheus',
    calls: 'metrics',
    answers: { 200: { description: 'Counters and gauges', text: ['text/plain'] } },
  }),
  // Each tool needs the scope of its own operation.
  'ALL /mcp': read('mcp', {
    summary: 'Speaks MCP over streamable HTTP',
    calls: 'mcp',
    answers: { 200: { description: 'An MCP message' } },
  }),
  'GET /events': read('watchSessions', {
    summary: 'Follows the changes of all sessions',
    calls: 'sessions.watch',
    answers: { 200: { description: '`ready` first, then `session` and `forgotten`', streamOnly: true } },
    errors: ['stream_limit_reached'],
    tool: tools.waitForSessions,
  }),
  'GET /requests': read('listRequests', {
    summary: 'Lists the requests of all sessions that wait for a person',
    calls: 'sessions.waiting',
    query: waitingQuerySchema,
    answers: tagged(
      requestPage,
      'Oldest first: pending requests, and interrupted ones of sessions that can be resumed',
    ),
  }),
  'GET /notifications': admin('getNotifications', {
    summary: 'Returns what notifications are sent, and what waits in the outbox',
    calls: 'notifications.state',
    answers: ok(notificationState, 'The state of each target'),
  }),
  'POST /notifications/test': admin('testNotifications', {
    summary: 'Sends a test to each target',
    calls: 'notifications.test',
    action: 'notifications-test',
    answers: ok(notificationTest, 'How each target answered'),
  }),
  'GET /workspaces': read('listWorkspaces', {
    summary: 'Lists the named folders (AIP-46 §Workspaces)',
    calls: 'workspaces.list',
    answers: tagged(is.workspaces, 'The workspaces file'),
    tool: tools.listWorkspaces,
  }),
  'POST /workspaces': admin('addWorkspace', {
    summary: 'Adds a named folder',
    calls: 'workspaces.add',
    action: 'workspace-add',
    body: ask.addWorkspaceSchema,
    answers: created(is.workspace, 'The workspace', '/workspaces/:slug'),
    errors: ['workspace_exists', 'workspace_invalid', 'path_invalid', 'storage_failed'],
  }),
  'DELETE /workspaces/:slug': admin('removeWorkspace', {
    summary: 'Removes the name; the folder stays',
    calls: 'workspaces.remove',
    action: 'workspace-remove',
    answers: ok(is.workspaceRemoved, 'It is removed'),
    errors: ['workspace_not_found', 'storage_failed'],
  }),
  'POST /workspaces/:slug/use': admin('useWorkspace', {
    summary: 'Makes it the active workspace',
    calls: 'workspaces.use',
    action: 'workspace-use',
    answers: ok(is.workspace, 'The active workspace'),
    errors: ['workspace_not_found', 'storage_failed'],
  }),
  'GET /hosts': read('listHosts', {
    summary: 'Lists the hosts of the fleet, by name; without a fleet only this one',
    calls: 'hosts.list',
    answers: tagged(is.hosts, 'What each host last reported'),
    tool: tools.listHosts,
  }),
  'GET /rules': admin('listRules', {
    summary: 'Lists the permission rules of all workspaces and sessions',
    calls: 'permissions.allRules',
    answers: tagged(allRules, 'Those of the workspaces, then those of the sessions, newest first; at most 10,000'),
  }),
  'GET /workspaces/:slug/rules': admin('listWorkspaceRules', {
    summary: 'Lists the permission rules of a workspace',
    calls: 'permissions.rules',
    answers: tagged(rules, 'The rules'),
    errors: WORKSPACE_RULES,
  }),
  'POST /workspaces/:slug/rules': admin('addWorkspaceRule', {
    summary: 'Adds a permission rule; pending requests that match are answered by it',
    calls: 'permissions.addRule',
    action: 'rule-add',
    body: ask.workspaceRuleSchema,
    answers: created(rule, 'The rule, or the same rule if it already existed'),
    errors: [...WORKSPACE_RULES, 'rule_limit_reached'],
  }),
  'DELETE /workspaces/:slug/rules/:ruleId': admin('removeWorkspaceRule', {
    summary: 'Removes a permission rule',
    calls: 'permissions.removeRule',
    action: 'rule-remove',
    answers: ok(ruleRemoved, 'It is removed'),
    errors: [...WORKSPACE_RULES, 'rule_not_found'],
  }),
  'GET /adapters': read('listAdapters', {
    summary: 'Lists the adapters, which can be started',
    calls: 'adapters.list',
    answers: tagged(is.adapters, 'The adapters'),
    tool: tools.listAdapters,
  }),
  'POST /adapters': admin('addAdapter', {
    summary: 'Adds or replaces an adapter of the owner',
    calls: 'adapters.add',
    action: 'adapter-add',
    body: ask.addAdapterSchema,
    answers: created(is.adapter, 'The adapter', '/adapters/:slug'),
    errors: ['manifest_invalid', 'path_invalid', 'install_failed'],
  }),
  'GET /adapters/:slug': read('getAdapter', {
    summary: 'Returns one adapter',
    calls: 'adapters.get',
    answers: ok(is.adapter, 'The adapter'),
    errors: ['adapter_not_found', 'manifest_invalid'],
  }),
  'DELETE /adapters/:slug': admin('removeAdapter', {
    summary: 'Removes an adapter of the owner, and its agent if no other adapter has its name',
    calls: 'adapters.remove',
    action: 'adapter-remove',
    answers: ok(is.adapterRemoved, 'It is removed'),
    errors: ['adapter_not_found', 'session_live', 'provisioning_busy', 'storage_failed'],
  }),
  'GET /adapters/:slug/state': read('getAdapterState', {
    summary: 'Returns whether the agent is installed, checked, set up and logged in; runs nothing',
    calls: 'adapters.state',
    answers: ok(is.adapterState, 'The state'),
    errors: ['adapter_not_found', 'manifest_invalid'],
  }),
  'GET /adapters/:slug/icon': read('getAdapterIcon', {
    summary: 'Returns the icon of an agent, for an `img`: a copy with nothing but shapes, colours and gradients',
    calls: 'adapters.icon',
    answers: { 200: { description: 'SVG', text: ['image/svg+xml'] } },
    errors: ['adapter_not_found', 'manifest_invalid', 'icon_not_found'],
  }),
  'POST /adapters/:slug/install': admin('installAgent', {
    summary: 'Installs the agent',
    action: 'adapter-install',
    ...provision,
    errors: PROVISION,
  }),
  'POST /adapters/:slug/setup': admin('setUpAgent', {
    summary: 'Sets up the agent',
    action: 'adapter-setup',
    ...provision,
    errors: [...PROVISION, 'setup_required', 'setup_failed'],
  }),
  'POST /adapters/:slug/login': admin('logInAgent', {
    summary: 'Logs in the agent',
    action: 'adapter-login',
    ...provision,
    errors: [...PROVISION, 'setup_required', 'setup_failed', 'auth_required'],
  }),
  'POST /adapters/:slug/doctor': admin('examineAgent', {
    summary: 'Checks the agent',
    calls: 'adapters.doctor',
    action: 'adapter-doctor',
    body: ask.doctorRequestSchema,
    answers: ok(is.doctorReport, 'The report', { stream: 'One `check` per finding; `report` is the last message' }),
    errors: ['adapter_not_found', 'manifest_invalid', 'stream_limit_reached'],
  }),
  'GET /secrets': admin('listSecrets', {
    summary: 'Lists which secrets exist and which are set; never a value',
    calls: 'adapters.secrets',
    answers: tagged(is.secrets, 'The secrets'),
  }),
  'GET /tokens': admin('listTokens', {
    summary: 'Lists the named tokens, without their values',
    calls: 'tokens.list',
    answers: tagged(is.tokens, 'The tokens'),
  }),
  'POST /tokens': admin('createToken', {
    summary: 'Creates a token; only this answer has its value',
    calls: 'tokens.create',
    action: 'token-create',
    body: ask.createTokenSchema,
    answers: created(is.newToken, 'The token', '/tokens/:name'),
    errors: ['token_exists', 'token_limit_reached', 'workspace_not_found', 'storage_failed'],
  }),
  'DELETE /tokens/:name': admin('revokeToken', {
    summary: 'Revokes a token and those that it created, and closes their open streams',
    calls: 'tokens.revoke',
    action: 'token-revoke',
    query: ask.revokeTokenQuerySchema,
    answers: ok(is.tokenRevoked, 'It is revoked'),
    errors: ['token_not_found', 'storage_failed'],
  }),
  'POST /tokens/:name/rotate': admin('rotateToken', {
    summary: 'Gives a token a new value, and ends those that it created',
    calls: 'tokens.rotate',
    action: 'token-rotate',
    body: ask.rotateTokenSchema,
    answers: ok(is.rotatedToken, 'The token'),
    errors: ['token_not_found', 'storage_failed'],
  }),
  // No action: a code opens nothing. Its exchange creates a token, which is logged as token-create.
  'POST /auth/code': admin('createBrowserCode', {
    summary: 'Creates a code that logs in one browser, once and within a minute',
    calls: 'browsers.code',
    body: ask.browserCodeSchema,
    answers: created(is.browserCode, 'The code, and the path to open'),
    errors: ['token_limit_reached', 'workspace_not_found', 'invalid_request'],
  }),
  'GET /auth/me': read('showCaller', {
    summary: 'What the caller is and may do',
    calls: 'browsers.caller',
    answers: ok(is.caller, 'The caller'),
  }),
  'POST /auth/logout': read('logOutBrowser', {
    summary: 'Ends the login of this browser and its streams, and deletes its cookie; tokens that it created stay',
    calls: 'browsers.logOut',
    answers: ok(is.loggedOut, 'It is logged out', { cookie: true }),
    errors: ['token_not_found', 'storage_failed'],
  }),
  'GET /auth/exchange': open('exchangeBrowserCode', {
    summary: 'Exchanges a code for an HttpOnly cookie, which holds a named token of 12 hours',
    calls: 'browsers.exchange',
    query: ask.exchangeQuerySchema,
    answers: ok(is.browserLogin, 'The cookie is set', { cookie: true }),
    errors: ['unauthorized', 'token_limit_reached', 'storage_failed'],
  }),
} as const satisfies Operations
