import { isAgentprotoError } from '@agentproto/contracts'
import type { HomeLayout } from '@agentproto/contracts/agent'
import { byteCount } from './byte-count.js'
import type { Finding } from './finding.js'
import { folderSize } from './folder-size.js'

/** The format of the home, its last upgrade, and what the backups take. */
export async function checkFormat({ root, backups }: HomeLayout): Promise<Finding> {
  const { assertHomeReadable, HOME_FORMAT, homeBackups } = await import('@agentproto/server/home')
  const record = assertHomeReadable(root)
  const { bytes } = await folderSize(backups)
  const count = homeBackups(root).length
  const size = count === 0 ? 'no backups' : `${count} backup${count === 1 ? '' : 's'} with ${byteCount(bytes)}`
  if (record === undefined || record.format < HOME_FORMAT) {
    const detail = `${record?.format ?? 0} of ${HOME_FORMAT}: the next start of the gateway brings it up to date; ${size}`
    return { verdict: 'ok', detail }
  }
  const { format, writtenBy, upgrades, pending } = record
  if (pending !== undefined) {
    const hint = 'Start the gateway, which finishes it: agentproto serve --detach'
    return { verdict: 'warn', detail: `the upgrade to ${format} was interrupted; ${size}`, hint }
  }
  const last = upgrades.at(-1)
  const upgraded = last === undefined ? '' : `, upgraded from ${last.from} at ${last.at}`
  return { verdict: 'ok', detail: `${format}, written by agentproto ${writtenBy.version}${upgraded}; ${size}` }
}

/** Whether this agentproto knows what is in the home. */
export async function isKnownFormat({ root }: HomeLayout): Promise<boolean> {
  const { assertHomeReadable } = await import('@agentproto/server/home')
  try {
    assertHomeReadable(root)
    return true
  } catch (thrown) {
    if (isAgentprotoError(thrown)) return false
    throw thrown
  }
}
