import type { KeptAgent, Launch } from '@agentproto/contracts/agent'
import { openKeeper } from '@agentproto/keeper'
import type { HomeKeeper, KeeperOptions } from '@agentproto/keeper'
import { identify } from '@agentproto/subprocess'
import { expect, onTestFinished } from 'vitest'
import { keeperFolder } from './keeper-process.ts'

let launches = 0
/** A program of Node with a marker of its own. */
export function program(text: string, more: Partial<Launch> = {}): Launch {
  const marker = `held-${process.pid}-${launches++}`
  const env = { PATH: process.env['PATH'] ?? '', AGENTPROTO_SESSION_ID: marker }
  return { command: process.execPath, args: ['-e', text], cwd: '/', env, marker, ...more }
}
/** Writes back what it reads. */
export const echo = (): Launch => program('process.stdin.pipe(process.stdout)')

/** A keeper that ends with the test, whatever it holds. */
export async function opened(options: Partial<KeeperOptions> = {}): Promise<HomeKeeper> {
  const keeper = await openKeeper({ folder: keeperFolder(), orphanMs: 60_000, ...options })
  onTestFinished(async () => {
    const { pid } = keeper.info
    keeper.close()
    await end(pid, 'SIGTERM')
  })
  return keeper
}

/** Ends a process, also a frozen one, and waits for that. */
export async function end(pid: number, signal: NodeJS.Signals): Promise<void> {
  if (identify(pid) === undefined) return
  process.kill(pid, 'SIGCONT')
  process.kill(pid, signal)
  await expect.poll(() => identify(pid)).toBe(undefined)
}

/** What an agent wrote, until it is enough. */
export async function textOf(agent: KeptAgent, isEnough: (text: string) => boolean, from = 0): Promise<string> {
  let text = ''
  for await (const chunk of agent.read('stdout', from)) {
    text += chunk.toString()
    if (isEnough(text)) break
  }
  return text
}
