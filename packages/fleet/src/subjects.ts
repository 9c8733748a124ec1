import { AgentprotoError } from '@agentproto/contracts'

// Every name that the fleet uses in NATS. docs/fleet-security.md gives the rights that a gateway needs, by these names.

const PREFIX = 'agentproto'

/** Key-value bucket of the live hosts, by host name. */
export const HOSTS_BUCKET = `${PREFIX}-hosts`
/** Key-value bucket of all sessions, by session id. */
export const SESSIONS_BUCKET = `${PREFIX}-sessions`
/** Stream of the logs of all sessions. */
export const LOG_STREAM = `${PREFIX}-log`

/** Subject of the log of a session. */
export const logSubject = (sessionId: string): string => `${PREFIX}.log.${token('session id', sessionId)}`
/** Subjects of all logs. */
export const ALL_LOGS = `${PREFIX}.log.*`
/** Subject of the calls that a host answers. */
export const callSubject = (host: string): string => `${PREFIX}.call.${token('host name', host)}`
/** Subject of the answer to one message of a host. */
export const answerSubject = (host: string, message: number): string =>
  `${PREFIX}.answer.${token('host name', host)}.${message}`
/** Subjects of all answers to a host. */
export const answersTo = (host: string): string => `${PREFIX}.answer.${token('host name', host)}.*`
/** Whether a text is the subject of an answer. */
export const isAnswerSubject = (subject: string): boolean => ANSWER.test(subject)

const ANSWER = new RegExp(`^${PREFIX}\\.answer\\.[A-Za-z0-9_-]{1,128}\\.[0-9]{1,16}$`)
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/

/** A part of a subject. NATS gives `.`, `*`, `>` and spaces a meaning, so that no name may have them. */
function token(what: string, text: string): string {
  if (TOKEN.test(text)) return text
  throw new AgentprotoError('invalid_request', `The ${what} cannot be part of a subject of NATS`, {
    expected: '1 to 128 of A-Z, a-z, 0-9, _ and -',
    given: text,
  })
}
