import type { SessionChange } from '@agentproto/contracts/wire'
import { raw, type CliContext } from '../cli-context.js'
import { homeOf } from '../daemon/daemon-record.js'
import { terminalNotice } from '../render/terminal-notice.js'
import { SessionNotices } from './session-notices.js'

/** Rings the terminal when the change of a session needs a person. */
export type Ring = (change: SessionChange) => void

/**
 * Reads `notify.terminal` of the home once.
 * @param isOwn Whether a session is on the screen already
 */
export async function openRing(context: CliContext, isOwn?: (id: string) => boolean): Promise<Ring> {
  if (context.stdout.isTTY !== true || !(await isOn(context))) return () => undefined
  const notices = new SessionNotices(isOwn)
  return (change) => {
    const text = notices.apply(change, Date.now())
    if (text !== undefined) raw(context.stdout).write(terminalNotice(text))
  }
}

/** A configuration that cannot be read is reported by the commands that need it. */
async function isOn(context: CliContext): Promise<boolean> {
  const { readConfigFile, valueAt } = await import('../config/config-file.js')
  const tree = await readConfigFile(homeOf(context).config).catch(() => ({}))
  return valueAt(tree, ['notify', 'terminal']) !== false
}
