import type { NotificationState } from '@agentproto/contracts/wire'
import { ageSince } from './age.js'
import { oneLine } from './printable.js'

/** One line for each target: what was delivered, what waits and why, what was dropped. */
export const notificationLines = ({ targets }: NotificationState): readonly string[] =>
  targets.map(({ target, to, delivered, waiting, oldestAt, dropped, problem }) => {
    const drops = Object.entries(dropped).map(([reason, count]) => `${count} ${reason}`)
    const parts = [
      `${delivered} delivered`,
      waiting === 0 ? '' : `${waiting} waiting${oldestAt === undefined ? '' : `, oldest ${ageSince(oldestAt)}`}`,
      drops.length === 0 ? '' : `dropped: ${drops.join(', ')}`,
      problem === undefined ? '' : `last attempt failed: ${problem}`,
    ]
    return oneLine(`${target} ${to}: ${parts.filter(Boolean).join('; ')}`)
  })
