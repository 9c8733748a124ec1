import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Launch } from '@agentproto/contracts/agent'
import { keptProcess, spawnAgentProcess } from '@agentproto/subprocess'
import type { AgentProcess, SpawnOptions } from '@agentproto/subprocess'
import { onTestFinished } from 'vitest'
import { MemoryKeeper } from '../../../tooling/memory-keeper.ts'

const fixture = (name: string): string => fileURLToPath(new URL(`fixtures/${name}`, import.meta.url))

let launches = 0

/** A launch of a command with a marker of its own. */
export function launchOf(command: string, args: readonly string[] = [], more: Partial<Launch> = {}): Launch {
  const marker = `test-${process.pid}-${launches++}`
  return {
    command,
    args,
    cwd: process.cwd(),
    env: { PATH: process.env['PATH'] ?? '', AGENTPROTO_SESSION_ID: marker },
    marker,
    ...more,
  }
}

export interface Started {
  readonly agent: AgentProcess
  readonly lines: string[]
  /** Settles with the next line that is not read yet. */
  line(): Promise<string>
}

/** A way to start an agent. */
export type Spawn = (launch: Launch, options: SpawnOptions) => Promise<AgentProcess>

/** Starts an agent whose pipes another one holds. */
export const spawnKept: Spawn = async (launch, options) => {
  const agent = keptProcess(await new MemoryKeeper().spawn(launch.marker, launch, ''), launch.marker, options)
  agent.begin()
  return agent
}

/** Starts a launch, ends it with the test, and collects its lines. */
export async function start(
  launch: Launch,
  options: Partial<SpawnOptions> = {},
  spawn: Spawn = spawnAgentProcess,
): Promise<Started> {
  const lines: string[] = []
  let wake = (): void => {}
  let read = 0
  const agent = await spawn(launch, {
    graces: { stdinGraceMs: 100, termGraceMs: 200 },
    onLines: (batch) => {
      lines.push(...batch)
      wake()
    },
    ...options,
  })
  onTestFinished(async () => void (await agent.terminate()))
  const line = async (): Promise<string> => {
    while (read >= lines.length) await new Promise<void>((resolve) => (wake = resolve))
    return lines[read++] ?? ''
  }
  return { agent, lines, line }
}

/** A Node script as a launch. */
export const script = (name: string, ...args: string[]): Launch => launchOf(process.execPath, [fixture(name), ...args])

/** Whether a process runs; a zombie does not. */
export function alive(pid: number): boolean {
  if (!existsSync(`/proc/${pid}/stat`)) return false
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    return false
  }
}
