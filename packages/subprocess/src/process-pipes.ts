import type { Readable } from 'node:stream'
import type { AgentProcessInfo, ProcessExit } from '@agentproto/contracts/agent'

/** A running process with its pipes, wherever they are held. */
export interface ProcessPipes {
  readonly info: AgentProcessInfo
  readonly stdout: Readable
  readonly stderr: Readable
  /** Settles when its output begins to be read. */
  readonly begun: Promise<void>
  /** A promise is returned while stdin is full; it never rejects. A broken pipe drops the text. */
  write(text: string): void | Promise<void>
  endInput(): void
  /** Calls the listener with the reason when the process can no longer be reached. */
  onBroken(listener: (reason: string) => void): void
  /** Settles when the process ended; never rejects. */
  readonly exit: Promise<ProcessExit>
  /** Called when nothing of the process runs any more. */
  gone(): void
  /** Why another host has the process, or will have it: this one neither ends it nor reports its end. */
  readonly foreign: 'left' | 'taken-over' | undefined
}
