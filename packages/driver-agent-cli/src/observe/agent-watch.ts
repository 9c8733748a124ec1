import type { ProcessWatch } from '@agentproto/acp'
import { type Clock, defined, isRecord } from '@agentproto/contracts'
import type { AgentObservation, AgentProcessInfo, Ending } from '@agentproto/contracts/agent'
import { type AgentProcess, type ProcessRow, processName } from '@agentproto/subprocess'
import { plainText } from './plain-text.js'

/** How much an agent may write to its pipes before its first prompt, in characters and in lines. */
const OUTPUT_MAX = { size: 16 << 20, lines: 20_000 }
/** How many names of processes are kept. */
const NAMES_MAX = 20

type Measured = Pick<AgentObservation, 'ends' | 'endMs' | 'stdoutNoise'> & { readonly outlived: readonly string[] }

/** Measures what an agent writes to its pipes, how it ends, and which processes it leaves. */
export class AgentWatch implements ProcessWatch {
  readonly maxLineBytes = 4 << 20
  readonly descendantGraceMs = 1_000
  readonly #clock: Clock
  readonly #onFlood: () => void
  #process: AgentProcess | undefined
  readonly #written = { size: 0, lines: 0 }
  #isFlooded = false
  #noise = 0
  #firstNoise: string | undefined
  #ends: Ending = 'stdin'
  #times = { asked: 0, ended: 0 }
  readonly #outlived = new Set<string>()

  /** @param onFlood called once, when the agent wrote too much; from then on nothing is handled */
  constructor(clock: Clock, onFlood: () => void) {
    this.#clock = clock
    this.#onFlood = onFlood
  }

  get process(): AgentProcess | undefined {
    return this.#process
  }

  get measured(): Measured {
    const { asked, ended } = this.#times
    return {
      ends: this.#ends,
      endMs: Math.max(0, ended - asked),
      stdoutNoise: { lines: this.#noise, ...defined({ first: this.#firstNoise }) },
      outlived: [...this.#outlived],
    }
  }

  started(process: AgentProcess): void {
    this.#process = process
    void process.exit.then(() => (this.#times.ended = this.#clock.now()))
  }

  filter(lines: readonly string[]): readonly string[] {
    if (this.#count(lines)) return []
    return lines.filter((line) => {
      const isMessage = isRpc(line)
      if (!isMessage && line.trim() !== '') this.#addNoise(line)
      return isMessage
    })
  }

  errorOutput(lines: readonly string[]): void {
    this.#count(lines)
  }

  dropped(bytes: number): void {
    this.#addNoise(`a line of ${bytes} bytes`)
    this.#add(bytes, 1)
  }

  ending(step: Ending, alive: readonly ProcessRow[]): void {
    const leader = alive.find((row) => this.#isLeader(row))
    if (step === 'stdin') this.#times.asked = this.#clock.now()
    else if (leader !== undefined) this.#ends = step
    if (step !== 'stdin') for (const row of leader ? detached(alive, leader) : alive) this.#addOutlived(row)
  }

  /** Returns whether it is too much. */
  #count(lines: readonly string[]): boolean {
    return this.#add(
      lines.reduce((sum, line) => sum + line.length + 1, 0),
      lines.length,
    )
  }

  #add(size: number, lines: number): boolean {
    const written = this.#written
    written.size += size
    written.lines += lines
    const isFlood = written.size > OUTPUT_MAX.size || written.lines > OUTPUT_MAX.lines
    if (isFlood && !this.#isFlooded) this.#onFlood()
    this.#isFlooded = isFlood
    return isFlood
  }

  #addNoise(line: string): void {
    this.#noise += 1
    this.#firstNoise ??= plainText(line)
  }

  #addOutlived(row: AgentProcessInfo): void {
    const name = processName(row)
    if (name !== undefined && this.#outlived.size < NAMES_MAX) this.#outlived.add(plainText(name))
  }

  #isLeader({ pid, startTime }: AgentProcessInfo): boolean {
    const { info } = this.#process ?? {}
    return info?.pid === pid && info.startTime === startTime
  }
}

/** Processes that left an agent which still runs: in another group, and with a parent that is none of its own. */
function detached(alive: readonly ProcessRow[], leader: ProcessRow): readonly ProcessRow[] {
  const pids = new Set(alive.map(({ pid }) => pid))
  return alive.filter(({ pid, pgid, ppid }) => pid !== leader.pid && pgid !== leader.pid && !pids.has(ppid))
}

/** A request, a notification or an answer. Other JSON, such as a line of a log, is none. */
function isRpc(line: string): boolean {
  try {
    const message: unknown = JSON.parse(line)
    return isRecord(message) && (typeof message['method'] === 'string' || 'result' in message || 'error' in message)
  } catch {
    return false
  }
}
