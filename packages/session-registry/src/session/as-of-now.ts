import type { Session } from '@agentproto/contracts'
import { endOfTime } from '../lifecycle/resume.js'
import type { SessionHost } from '../session-host.js'
import { summarised } from './state.js'

/** A session that was resumable when it ended is not any more once its time is over. */
export const asOfNow =
  ({ clock, config }: Pick<SessionHost, 'clock' | 'config'>) =>
  (session: Session): Session =>
    session.resumable && endOfTime(session, config.maxDurationMs) <= clock.now()
      ? summarised({ ...session, resumable: false })
      : session
