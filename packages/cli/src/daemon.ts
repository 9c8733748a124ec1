import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { AgentprotoError, homeFrom, homeLayout, type DaemonRecord, type HomeLayout } from '@agentproto/contracts'
import { createClient, type Client } from '@agentproto/client'
import { httpFetch } from './http-fetch.js'
import type { Io } from './io.js'

export const homeOf = ({ env }: Pick<Io, 'env'>): HomeLayout => homeLayout(homeFrom(env, homedir()))

/** Where the gateway is and how to speak to it. */
export interface Daemon {
  readonly url: string
  readonly token: string | undefined
}

/**
 * The gateway that the environment names (`AGENTPROTO_URL`, `AGENTPROTO_TOKEN`), else the one that serves
 * the home.
 * @throws `daemon_not_running` when the home has none
 */
export async function findDaemon(io: Pick<Io, 'env'>): Promise<Daemon> {
  const home = homeOf(io)
  const token = io.env['AGENTPROTO_TOKEN'] || (await readToken(home))
  const url = io.env['AGENTPROTO_URL'] || (await readDaemon(home))?.url
  if (url !== undefined) return { url, token }
  throw new AgentprotoError('daemon_not_running', `No gateway is running for ${home.root}`, {
    hint: 'Start one with: agentproto serve',
  })
}

export async function connect(io: Pick<Io, 'env'>): Promise<Client> {
  return clientOf(await findDaemon(io))
}

export const clientOf = ({ url, token }: Daemon): Client =>
  createClient({ url, fetch: httpFetch, ...(token === undefined ? {} : { token }) })

/** The home's daemon record; undefined when there is none or it is not one. */
export async function readDaemon(home: HomeLayout): Promise<DaemonRecord | undefined> {
  const record = parsed(await textOf(home.daemon))
  return isDaemonRecord(record) ? record : undefined
}

async function readToken(home: HomeLayout): Promise<string | undefined> {
  return (await textOf(home.token))?.trim() || undefined
}

async function textOf(path: string): Promise<string | undefined> {
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

function parsed(text: string | undefined): unknown {
  try {
    return text === undefined ? undefined : JSON.parse(text)
  } catch {
    return undefined
  }
}

function isDaemonRecord(value: unknown): value is DaemonRecord {
  if (typeof value !== 'object' || value === null) return false
  const { pid, url } = value as Partial<DaemonRecord>
  return typeof pid === 'number' && typeof url === 'string'
}
