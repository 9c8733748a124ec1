import { spawn, type ChildProcess } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { AgentprotoError, type DaemonRecord, type HomeLayout } from '@agentproto/contracts'
import { createClient } from '@agentproto/client'
import { daemonProcess } from './daemon-process.js'
import { homeOf, readDaemon } from './daemon-record.js'
import { daemonLog, rotateLog, tailOf } from './daemon-log.js'
import { httpFetch } from '../http-fetch.js'
import type { Io } from '../io.js'
import { progress } from '../progress.js'
import { StartLock } from './start-lock.js'

/** A cold machine with a slow disk starts a gateway in seconds. */
const START_MS = 60_000
const LOOK_MS = 25

/**
 * Starts the gateway of the home in the background, or finds the one that somebody else has started meanwhile. Of
 * many commands that come at once, one starts it and the others wait.
 * @param args Arguments of `serve`, beside those that this takes care of
 * @throws `daemon_not_running` with the last words of a gateway that did not start
 */
export async function startDaemon(io: Io, args: readonly string[] = []): Promise<DaemonRecord> {
  const home = homeOf(io)
  await mkdir(home.logs, { recursive: true, mode: 0o700 })
  const lock = new StartLock(`${home.root}/daemon.starting`)
  const done = progress(io, 'Starting the gateway')
  try {
    return await startOrFind(io, { home, lock, args })
  } finally {
    lock.release()
    done()
  }
}

interface Starting {
  readonly home: HomeLayout
  readonly lock: StartLock
  readonly args: readonly string[]
}

async function startOrFind(io: Io, { home, lock, args }: Starting): Promise<DaemonRecord> {
  let child: Child | undefined
  for (const end = Date.now() + START_MS; Date.now() < end; await delay(LOOK_MS)) {
    const record = await answering(home)
    if (record !== undefined) return record
    if (child === undefined && lock.take()) child = launch(io, home, args)
    if (child?.ended() === true) {
      // Another one may have been quicker in spite of the lock: then this one was refused, and rightly so.
      const other = await answering(home)
      if (other !== undefined) return other
      throw didNotStart(home, child.lastWords())
    }
  }
  throw didNotStart(home, `it did not answer within ${START_MS / 1_000} s`)
}

interface Child {
  ended(): boolean
  lastWords(): string
}

function launch(io: Io, home: HomeLayout, args: readonly string[]): Child {
  const path = daemonLog(home)
  rotateLog(path)
  const log = openSync(path, 'a', 0o600)
  try {
    const gateway: ChildProcess = spawn(process.execPath, [process.argv[1] ?? '', 'serve', ...args], {
      // Not the caller's folder, which may be taken away: a session is told the folder it runs in.
      cwd: homedir(),
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...io.env, NO_COLOR: '1' },
    })
    let failure: string | undefined
    gateway.on('error', (error) => (failure = error.message))
    gateway.unref()
    return {
      ended: () => failure !== undefined || gateway.exitCode !== null || gateway.signalCode !== null,
      lastWords: () => failure ?? tailOf(path, 1)[0]?.replace(/^agentproto: /, '') ?? 'it said nothing',
    }
  } finally {
    closeSync(log)
  }
}

async function answering(home: HomeLayout): Promise<DaemonRecord | undefined> {
  const record = await readDaemon(home)
  if (record === undefined || (await daemonProcess(home))?.pid !== record.pid) return undefined
  const client = createClient({ url: record.local ?? record.url, fetch: httpFetch() })
  return client.health().then(
    () => record,
    () => undefined,
  )
}

const didNotStart = ({ root }: HomeLayout, why: string): AgentprotoError =>
  new AgentprotoError('daemon_not_running', `The gateway for ${root} did not start: ${why}`, {
    hint: 'See more with: agentproto logs',
  })
