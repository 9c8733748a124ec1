import type { Scope } from '../principal.js'

/**
 * The scope that a caller needs for a method of ACP, as for the operation that it is over HTTP. Those at the end are asked by us,
 * and their answer is a decision: who may not answer is not asked.
 */
export const ACP_METHODS = {
  initialize: 'read',
  authenticate: 'read',
  logout: 'read',
  '$/cancel_request': 'read',
  'session/list': 'read',
  'session/load': 'read',
  'session/resume': 'read',
  // Ends only what its client itself began there; other clients may have the session open.
  'session/close': 'read',
  'session/new': 'operate',
  'session/prompt': 'operate',
  'session/cancel': 'operate',
  'session/fork': 'operate',
  'session/set_mode': 'operate',
  'session/set_model': 'operate',
  'session/set_config_option': 'operate',
  'session/delete': 'operate',
  'session/request_permission': 'operate',
  'elicitation/create': 'operate',
} as const satisfies Readonly<Record<string, Scope>>

export type AcpMethod = keyof typeof ACP_METHODS
