import { rename } from 'node:fs/promises'
import { AgentprotoError } from '@agentproto/contracts'
import { messageOf } from '../lifecycle/ending.js'

/** What is done when a file of the home cannot be used. */

export const storageFailed = (what: string, cause: unknown): AgentprotoError =>
  new AgentprotoError('storage_failed', what, {
    given: cause instanceof Error ? cause.message : cause,
    hint: 'Check the free space and the permissions of the agentproto home',
    cause,
  })

/** An unreadable file is kept under another name, never overwritten (failure mode 45). @returns what happened, for people */
export async function moveAside(path: string): Promise<string> {
  const aside = `${path}.unreadable-${process.pid}`
  try {
    await rename(path, aside)
    return `${path} could not be read and was moved to ${aside}`
  } catch (error) {
    return `${path} could not be read, nor moved aside: ${messageOf(error)}`
  }
}
