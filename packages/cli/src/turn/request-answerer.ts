import type { PermissionMode } from '@agentproto/contracts'
import type { KeyAsker } from '../attach/ask-by-key.js'
import { warn, type CliContext } from '../cli-context.js'
import { requestTitle } from '../render/request-title.js'
import { denyOnce } from '../requests/one-time-answer.js'
import type { Answerer } from './follow-turn.js'

/** For a turn of this command: a user at a terminal answers. Without one, requests are denied (F79). */
export const answererFor = (context: CliContext): Answerer =>
  hasTerminal(context) ? terminalAnswerer(context) : denyingAnswerer(context)

/** For a turn that is only watched: without a terminal, requests are left to others. */
export function watchingAnswerer(context: CliContext, detailsCommand: string): Answerer {
  if (hasTerminal(context)) return terminalAnswerer(context)
  return ({ request }) => {
    warn(context, `the agent waits for an answer: ${requestTitle(request)}. See: ${detailsCommand}`)
    return Promise.resolve(undefined)
  }
}

/** What a command without a terminal does with requests; undefined at a terminal. */
export const unattendedNote = (context: CliContext, permissionMode: PermissionMode): string | undefined =>
  hasTerminal(context) ? undefined : UNATTENDED[permissionMode]

const UNATTENDED: Readonly<Record<PermissionMode, string>> = {
  ask: 'no terminal: every permission is denied and every question declined at once; allow more with --permissions',
  'approve-reads': 'no terminal: reads are allowed; other permissions are denied and questions declined at once',
  'approve-all': 'no terminal: permissions are allowed; questions are declined at once',
  'deny-all': 'no terminal: every permission is denied and every question declined at once',
}

const hasTerminal = ({ stdin, stderr }: CliContext): boolean => stdin.isTTY === true && stderr.isTTY === true

/** Asks by key on stderr, so that stdout carries only the agent's answer. */
function terminalAnswerer(context: CliContext): Answerer {
  let asker: KeyAsker | undefined
  return async (asked, signal) => {
    asker ??= new (await import('../attach/ask-by-key.js')).KeyAsker(context)
    const answer = await asker.ask(asked, signal)
    return answer && { answer }
  }
}

const denyingAnswerer =
  (context: CliContext): Answerer =>
  ({ request }) => {
    const report = (): void => warn(context, `denied, because there is no terminal to ask: ${requestTitle(request)}`)
    return Promise.resolve({ answer: denyOnce(request), onAccepted: report })
  }
