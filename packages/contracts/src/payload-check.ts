import { isRecord, type Json } from './json.js'

/** Whether an event of unknown origin has what readers of logs rely on. Other members are kept as they are. */
export type PayloadCheck = (payload: Json) => boolean

/** With no name: readers of logs rely on none of its members. */
export const texts =
  (...names: readonly string[]): PayloadCheck =>
  (payload) =>
    names.every((name) => typeof payload[name] === 'string')

export const isTool: PayloadCheck = (payload) =>
  typeof payload['toolCallId'] === 'string' &&
  ['title', 'toolName', 'kind', 'status'].every((name) => ['string', 'undefined'].includes(typeof payload[name]))

export const isRequest: PayloadCheck = ({ kind, message, toolCall }) =>
  kind === 'permission' ? isRecord(toolCall) && isTool(toolCall) : typeof message === 'string'
