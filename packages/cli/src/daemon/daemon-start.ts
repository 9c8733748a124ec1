import { spawn } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { homedir } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { AgentprotoError } from '@agentproto/contracts'
import type { DaemonRecord, HomeLayout } from '@agentproto/contracts/agent'
import { createClient } from '@agentproto/client'
import { lock } from 'proper-lockfile'
import type { CliContext } from '../cli-context.js'
import { httpFetch } from '../http-fetch.js'
import { withProgress } from '../progress.js'
import { daemonLog, rotateLog, tailOf } from './daemon-log.js'
import { daemonProcess } from './daemon-process.js'
import { homeOf, readDaemon } from './daemon-record.js'
import { IN_BACKGROUND } from './serve-again.js'

/** A cold machine with a slow disk needs seconds. */
const START_MS = 60_000
/** A gateway that joins its fleet listens after one lease. One of a program that embeds it may never listen. */
const JOINING_MS = 20_000
const POLL_MS = 25

/**
 * Starts the gateway of the home in the background, or finds the one that another command has started meanwhile. Of
 * many commands at once, one starts it and the others wait.
 * @param args Further arguments of `serve`
 * @throws `daemon_not_running` with the last log line of a gateway that did not start
 */
export async function startDaemon(context: CliContext, args: readonly string[] = []): Promise<DaemonRecord> {
  const home = homeOf(context)
  await mkdir(home.logs, { recursive: true, mode: 0o700 })
  return withProgress(context, 'Starting the gateway', () => startOrFind(context, home, args))
}

async function startOrFind(context: CliContext, home: HomeLayout, args: readonly string[]): Promise<DaemonRecord> {
  let unlock: (() => Promise<void>) | undefined
  let child: ReturnType<typeof launch> | undefined
  try {
    const begun = Date.now()
    for (const end = begun + START_MS; Date.now() < end; await delay(POLL_MS)) {
      // Asked first: when another gateway was quicker in spite of the lock, this one was refused, and that one answers.
      const hasEnded = child?.hasEnded() === true
      const record = await answeringGateway(home)
      if (record !== undefined) return record
      if (Date.now() < begun + JOINING_MS && (await isStarting(home))) continue
      if (hasEnded && child !== undefined) throw didNotStart(home, child.lastLogLine())
      unlock ??= await lockStart(home)
      if (unlock !== undefined) child ??= launch(context, home, args)
    }
  } finally {
    await unlock?.()
  }
  throw didNotStart(home, `it did not answer within ${START_MS / 1_000} s`)
}

/** Whether a gateway has the home and does not listen yet: before, it joins its fleet. One that listened before is not waited for. */
async function isStarting(home: HomeLayout): Promise<boolean> {
  const owner = await daemonProcess(home)
  return owner !== undefined && (await readDaemon(home))?.pid !== owner.pid
}

/**
 * Decides which of many commands starts the gateway. It only saves the others the work: the gateway's own lock ensures
 * that a home has one gateway.
 * @returns undefined while another command holds it
 */
export async function lockStart({ root }: HomeLayout): Promise<(() => Promise<void>) | undefined> {
  try {
    const release = await lock(`${root}/daemon.starting`, { realpath: false, onCompromised: () => undefined })
    return () => release().catch(() => undefined)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ELOCKED') return undefined
    throw thrown
  }
}

function launch({ env }: CliContext, home: HomeLayout, args: readonly string[]) {
  const path = daemonLog(home)
  rotateLog(path)
  const log = openSync(path, 'a', 0o600)
  try {
    const gateway = spawn(process.execPath, [process.argv[1] ?? '', 'serve', ...args], {
      // The caller's folder may be deleted, and a session names its own folder.
      cwd: homedir(),
      detached: true,
      stdio: ['ignore', log, log],
      env: { ...env, NO_COLOR: '1', [IN_BACKGROUND]: '1' },
    })
    let failure: string | undefined
    gateway.on('error', (error) => (failure = error.message))
    gateway.unref()
    return {
      hasEnded: () => failure !== undefined || gateway.exitCode !== null || gateway.signalCode !== null,
      lastLogLine: () => failure ?? tailOf(path, 1)[0]?.replace(/^agentproto: /, '') ?? 'it wrote no message',
    }
  } finally {
    closeSync(log)
  }
}

/** The gateway of the home, if it answers. */
export async function answeringGateway(home: HomeLayout): Promise<DaemonRecord | undefined> {
  const record = await readDaemon(home)
  if (record === undefined || (await daemonProcess(home))?.pid !== record.pid) return undefined
  const client = createClient({ url: record.local ?? record.url, fetch: httpFetch() })
  return client.health().then(
    () => record,
    () => undefined,
  )
}

export const didNotStart = ({ root }: HomeLayout, why: string): AgentprotoError =>
  new AgentprotoError('daemon_not_running', `The gateway for ${root} did not start: ${why}`, {
    hint: 'See more with: agentproto logs',
  })
