import { fileURLToPath } from 'node:url'
import { exitMessage, parseLine } from '@agentproto/arm-kit'
import { AgentprotoError, asRecord, asString } from '@agentproto/contracts'
import type { AgentCliConnectOptions, AgentCliEnd } from '@agentproto/contracts/agent'
import { findExecutable, SESSION_MARKER, spawnAgentProcess } from '@agentproto/subprocess'

const HOST = fileURLToPath(new URL('../bin/pty-host.mjs', import.meta.url))
/** How long the program may take to exit after its terminal is hung up, in milliseconds. */
const HANG_UP_MS = 500

export interface TerminalOptions {
  readonly columns: number
  /** Receives output of the program; reading waits for a returned promise. */
  readonly onData: (data: string) => void | Promise<void>
}

/** A program in its own terminal. A helper process holds the terminal and is the root of the process tree. */
export interface Terminal {
  /** Settles when the program has ended; never rejects. */
  readonly ended: Promise<AgentCliEnd>
  /** Types keys. */
  type(keys: string): void
  /** Hangs up, and ends the program and its children. */
  close(): Promise<unknown>
}

/** @throws `agent_not_installed`, `cwd_invalid`, `spawn_failed` */
export async function openTerminal(
  { command, args, cwd, env, termGraceMs }: AgentCliConnectOptions,
  { columns, onData }: TerminalOptions,
): Promise<Terminal> {
  if ((await findExecutable(command)) === undefined) {
    throw new AgentprotoError('agent_not_installed', `The executable ${command} does not exist or cannot be executed`)
  }
  const hostArgs = [HOST, String(columns), command, ...args]
  const launch = { command: process.execPath, args: hostArgs, cwd, env, marker: env[SESSION_MARKER] ?? '' }
  const agent = await spawnAgentProcess(launch, {
    graces: { stdinGraceMs: HANG_UP_MS, termGraceMs },
    onLines: (lines) => onData(lines.map(dataOf).join('')),
  })
  const ended = agent.closed.then((exit) => {
    const stderrTail = agent.stderrTail()
    return { ...exit, stderrTail, message: exitMessage(exit, stderrTail) }
  })
  return { ended, type: (keys) => void agent.write(JSON.stringify({ type: keys })), close: () => agent.terminate() }
}

const dataOf = (line: string): string => asString(asRecord(parseLine(line))['data']) ?? ''
