import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { AgentprotoError, isRecord, parseJson } from '@agentproto/contracts'
import { type DaemonRecord, homeFrom, homeLayout, type HomeLayout } from '@agentproto/contracts/agent'
import type { CliContext } from '../cli-context.js'

export const homeOf = ({ env }: Pick<CliContext, 'env'>): HomeLayout => homeLayout(homeFrom(env, homedir()))

/** The home's daemon record; undefined when there is no valid one. */
export async function readDaemon(home: HomeLayout): Promise<DaemonRecord | undefined> {
  const record = parseJson((await readHomeFile(home.daemon)) ?? '')
  return isDaemonRecord(record) ? record : undefined
}

const isDaemonRecord = (value: unknown): value is DaemonRecord =>
  isRecord(value) && typeof value['pid'] === 'number' && typeof value['url'] === 'string'

/** A file of the home; undefined when it does not exist. @throws `unauthorized` when it cannot be read */
export async function readHomeFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw new AgentprotoError('unauthorized', `${path} cannot be read`, {
      hint: 'Run agentproto as the user that started the gateway',
      cause: thrown,
    })
  }
}
