import { type Notification, NOTIFICATION_TYPES, type NotificationData, STOP_REASON_TEXT } from '@agentproto/contracts'

/** The title and the text of a notification for a person, each one line. */
export interface NotificationText {
  readonly title: string
  readonly text: string
}

const TITLE_CHARS = 120

/** Control characters, and those that reorder the text around them or end its line. */
const CONTROLS = /[\u0000-\u001F\u007F-\u009F\u2028\u2029\p{Bidi_Control}]+/gu

/** Words of an agent or a caller: one line without control characters, bounded. */
export function boundedTitle(text: string): string {
  const line = text.replace(CONTROLS, ' ').replace(/\s+/g, ' ').trim()
  // By code points: half of a pair is no text.
  const chars = Array.from(line.slice(0, 8 * TITLE_CHARS))
  return chars.length <= TITLE_CHARS ? line : `${chars.slice(0, TITLE_CHARS - 1).join('')}…`
}

function notificationText({ event, data }: Notification): NotificationText {
  const name = data.label ?? data.sessionId ?? data.hostId
  const where = data.workspace === undefined ? '' : ` (${data.workspace})`
  return { title: `agentproto: ${name}${where}`, text: TEXTS[event](data) }
}

const TEXTS: Readonly<Record<Notification['event'], (data: NotificationData) => string>> = {
  request: ({ requestKind, agentTitle = '' }) =>
    `${requestKind === 'question' ? 'Asks' : 'Needs permission'}: ${agentTitle}`,
  'turn-end': ({ turn = 0, endReason = 'end_turn', elapsedMs = 0 }) =>
    `Turn ${turn} ended (${endReason}) after ${Math.round(elapsedMs / 1_000)} s`,
  failure: ({ turn, stopReason, endReason, failureKind }) => {
    const why =
      stopReason === undefined ? `turn ${turn ?? 0} ended: ${endReason ?? 'error'}` : STOP_REASON_TEXT[stopReason]
    return `Failed: ${why}${failureKind === undefined ? '' : ` (${failureKind})`}`
  },
  budget: () => `Ended: ${STOP_REASON_TEXT.budget_exceeded}`,
  test: () => 'This is a test',
}

/** The body of a webhook, and what a program reads on stdin. */
export const bodyOf = ({ event, at, data }: Notification): string =>
  JSON.stringify({ type: NOTIFICATION_TYPES[event], timestamp: at, data })

/** What a program gets in its environment. */
export function environmentOf(notification: Notification): Record<string, string> {
  const { event, data } = notification
  const { title, text } = notificationText(notification)
  return {
    AGENTPROTO_NOTIFY_TYPE: NOTIFICATION_TYPES[event],
    AGENTPROTO_NOTIFY_TITLE: title,
    AGENTPROTO_NOTIFY_TEXT: text,
    AGENTPROTO_NOTIFY_SESSION: data.sessionId ?? '',
    AGENTPROTO_NOTIFY_LABEL: data.label ?? '',
    AGENTPROTO_NOTIFY_WORKSPACE: data.workspace ?? '',
    AGENTPROTO_NOTIFY_REQUEST: data.requestId ?? '',
  }
}
