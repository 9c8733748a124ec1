/**
 * What real agents said in recorded conversations, written down afresh: the order of messages, ids, kinds and
 * statuses are theirs, the rest is shortened. `cancel` stands for the moment at which the user gave up.
 */

export type Said =
  | { readonly update: Readonly<Record<string, unknown>> }
  /** A request of the agent; what follows waits for its answer. */
  | { readonly ask: string; readonly id: number | string; readonly params: Readonly<Record<string, unknown>> }
  | { readonly notify: string; readonly params: Readonly<Record<string, unknown>> }
  | { readonly cancel: true }
  | { readonly result: Readonly<Record<string, unknown>> }

export interface Scene {
  readonly agent: string
  readonly about: string
  readonly initialize: Readonly<Record<string, unknown>>
  readonly turn: readonly Said[]
  /** The option that its user chooses. */
  readonly choice?: string
  /** Types of the turn's events as they must come out. */
  readonly events: readonly string[]
  readonly reason: string
}

const text = (words: string): Said => ({
  update: { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: words } },
})
const update = (sessionUpdate: string, more: Readonly<Record<string, unknown>>): Said => ({
  update: { sessionUpdate, ...more },
})
const result = (more: Readonly<Record<string, unknown>>): Said => ({ result: more })
const permission = (
  id: number | string,
  toolCall: Readonly<Record<string, unknown>>,
  options: readonly string[],
): Said => {
  const offered = options.map((each) => {
    const [optionId, kind] = each.split(' ')
    return { optionId, kind, name: optionId }
  })
  return { ask: 'session/request_permission', id, params: { toolCall, options: offered } }
}

const GEMINI = {
  protocolVersion: 1,
  authMethods: [
    { id: 'oauth-personal', name: 'Log in with Google' },
    { id: 'gemini-api-key', name: 'Gemini API key' },
  ],
  agentInfo: { name: 'gemini-cli', version: '0.61.0' },
  agentCapabilities: { loadSession: true, promptCapabilities: { image: true, audio: true, embeddedContext: true } },
}
const OPENCODE = {
  protocolVersion: 1,
  agentCapabilities: { loadSession: true, sessionCapabilities: { close: {}, fork: {}, list: {}, resume: {} } },
}
const CODEX_ZED = {
  protocolVersion: 1,
  agentCapabilities: { loadSession: true, sessionCapabilities: { list: {}, close: {} } },
}

const GEMINI_OPTIONS = ['proceed_always allow_always', 'proceed_once allow_once', 'cancel reject_once']
const OPENCODE_OPTIONS = ['once allow_once', 'always allow_always', 'reject reject_once']
const CODEX_OPTIONS = ['approved-for-session allow_always', 'approved allow_once', 'abort reject_once']

const geminiCall = { toolCallId: 'write_file__call_1', status: 'pending', title: 'Writing to a.txt', kind: 'edit' }
const openCall = { toolCallId: 'call_1', kind: 'execute', title: 'bash' }
const codexCall = { toolCallId: 'call_1', kind: 'execute', title: 'touch a.txt' }

export const SCENES: readonly Scene[] = [
  {
    agent: 'gemini',
    about: 'no tool_call before its permission, one update after it',
    initialize: GEMINI,
    turn: [
      text('Calling write_file. '),
      permission(0, geminiCall, GEMINI_OPTIONS),
      update('tool_call_update', {
        ...geminiCall,
        status: 'completed',
        content: [{ type: 'diff', path: '/w/a.txt', oldText: '', newText: 'x' }],
      }),
      text('DONE '),
      result({ stopReason: 'end_turn', _meta: { quota: { token_count: { input_tokens: 16_257 } } } }),
    ],
    choice: 'proceed_once',
    events: ['text-delta', 'tool-call', 'agent-prompt', 'tool-result completed', 'text-delta', 'turn-end'],
    reason: 'end_turn',
  },
  {
    agent: 'gemini',
    about: 'after a rejection nothing more is said of the call',
    initialize: GEMINI,
    turn: [
      text('Calling write_file. '),
      permission(3, geminiCall, GEMINI_OPTIONS),
      text('DONE '),
      result({ stopReason: 'end_turn' }),
    ],
    choice: 'cancel',
    events: ['text-delta', 'tool-call', 'agent-prompt', 'text-delta', 'tool-result interrupted', 'turn-end'],
    reason: 'end_turn',
  },
  {
    agent: 'gemini',
    about: 'a command that was cancelled is called completed',
    initialize: GEMINI,
    turn: [
      permission(6, geminiCall, GEMINI_OPTIONS),
      { cancel: true },
      update('tool_call_update', { ...geminiCall, status: 'completed', content: [] }),
      result({ stopReason: 'cancelled' }),
    ],
    choice: 'proceed_once',
    events: ['tool-call', 'agent-prompt', 'tool-result completed', 'turn-end'],
    reason: 'cancelled',
  },
  {
    agent: 'opencode',
    about: 'writes through the client although it was not offered, and goes on without it',
    initialize: OPENCODE,
    turn: [
      update('tool_call', {
        ...openCall,
        kind: 'edit',
        title: 'write',
        status: 'pending',
        locations: [],
        rawInput: {},
      }),
      update('tool_call_update', {
        ...openCall,
        kind: 'edit',
        status: 'in_progress',
        locations: [{ path: '/w/a.txt' }],
      }),
      permission(0, { ...openCall, kind: 'edit', title: '/w/a.txt', status: 'pending' }, OPENCODE_OPTIONS),
      { ask: 'fs/write_text_file', id: 1, params: { path: '/w/a.txt', content: 'x' } },
      update('tool_call_update', { ...openCall, status: 'completed', title: 'a.txt' }),
      text('DONE '),
      update('usage_update', { used: 2_454, size: 128_000, cost: { amount: 0, currency: 'USD' } }),
      result({ stopReason: 'end_turn', usage: { inputTokens: 2_454, outputTokens: 9, totalTokens: 2_463 } }),
    ],
    choice: 'once',
    events: ['tool-call', 'tool-call', 'tool-call', 'agent-prompt', 'tool-result completed', 'text-delta', 'turn-end'],
    reason: 'end_turn',
  },
  {
    agent: 'opencode',
    about: 'asks before it says that the call runs, and a rejection ends the turn',
    initialize: OPENCODE,
    turn: [
      update('tool_call', { ...openCall, status: 'pending', rawInput: { cwd: '/w' } }),
      permission(3, { ...openCall, title: 'touch a.txt', status: 'pending' }, OPENCODE_OPTIONS),
      update('tool_call_update', { ...openCall, title: 'touch a.txt', status: 'in_progress' }),
      update('tool_call_update', { ...openCall, title: 'touch a.txt', status: 'failed' }),
      result({ stopReason: 'end_turn', usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 } }),
    ],
    choice: 'reject',
    events: ['tool-call', 'tool-call', 'agent-prompt', 'tool-call', 'tool-result failed', 'turn-end'],
    reason: 'end_turn',
  },
  {
    agent: 'codex (zed)',
    about: 'asks with a UUID, and reports the call only after its permission',
    initialize: CODEX_ZED,
    turn: [
      permission(
        '70fc6f6f-f14b-4212-a350-7ec4ec445e3a',
        { ...codexCall, status: 'pending', content: [] },
        CODEX_OPTIONS,
      ),
      update('tool_call', { ...codexCall, status: 'in_progress', rawInput: { command: 'touch a.txt' } }),
      update('tool_call_update', { toolCallId: 'call_1', status: 'completed', rawOutput: { exit_code: 0 } }),
      update('usage_update', { used: 7_657, size: 258_400 }),
      result({ stopReason: 'end_turn' }),
    ],
    choice: 'approved',
    events: ['tool-call', 'agent-prompt', 'tool-call', 'tool-result completed', 'turn-end'],
    reason: 'end_turn',
  },
  {
    agent: 'codex (zed)',
    about: 'a rejected edit stays in progress, and the turn is called cancelled',
    initialize: CODEX_ZED,
    turn: [
      update('tool_call', { ...codexCall, kind: 'edit', status: 'in_progress' }),
      permission(
        'f1ca8d1b-6b24-407b-9ed4-96f93b7eb407',
        { ...codexCall, kind: 'edit', status: 'pending' },
        CODEX_OPTIONS,
      ),
      update('usage_update', { used: 7_714, size: 258_400 }),
      result({ stopReason: 'cancelled' }),
    ],
    choice: 'abort',
    events: ['tool-call', 'agent-prompt', 'tool-result interrupted', 'turn-end'],
    reason: 'cancelled',
  },
  {
    agent: 'codex',
    about: 'a permission is withdrawn when its turn is cancelled',
    initialize: CODEX_ZED,
    turn: [
      permission(5, { ...codexCall, status: 'pending' }, CODEX_OPTIONS),
      { cancel: true },
      { notify: '$/cancel_request', params: { requestId: 5 } },
      { notify: '_auth/status_update', params: { status: 'ok' } },
      result({ stopReason: 'cancelled' }),
    ],
    events: ['tool-call', 'agent-prompt', 'tool-result interrupted', 'turn-end'],
    reason: 'cancelled',
  },
  {
    agent: 'qwen',
    about: 'sends an unknown request in the middle of a turn',
    initialize: { protocolVersion: 1, agentCapabilities: { loadSession: true } },
    turn: [
      { ask: 'craft/drainMidTurnQueue', id: 9, params: {} },
      { notify: 'qwen/notify/session/mode-update', params: { modeId: 'plan' } },
      text('DONE'),
      result({ stopReason: 'end_turn' }),
    ],
    events: ['text-delta', 'turn-end'],
    reason: 'end_turn',
  },
]
