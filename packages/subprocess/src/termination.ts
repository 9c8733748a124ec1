import { AgentprotoError, type Clock, pause, settlesWithin, systemClock } from '@agentproto/contracts'
import type { AgentProcessInfo, ArmLimits, Ending } from '@agentproto/contracts/agent'
import { ProcessTree } from './process-tree.js'
import type { ProcessRow } from './process-table.js'

export type Graces = Pick<ArmLimits, 'stdinGraceMs' | 'termGraceMs'>

/** How long the kernel may take to end what was killed, before it is reported as a survivor. */
const KILL_GRACE_MS = 2_000
const POLL_MS = 20

export interface Ladder {
  readonly tree: ProcessTree
  readonly clock: Clock
  readonly graces: Graces
  /** Closes the agent's stdin, which asks it to end. */
  readonly endStdin?: () => void
  /** Settles when the leader ended. */
  readonly exit?: Promise<unknown>
  readonly watch?: EndingWatch | undefined
}

/** Watches how a process tree ends. */
export interface EndingWatch {
  /** How long descendants may take to end after the leader, before they get a signal, in milliseconds. */
  readonly descendantGraceMs: number
  /** Called before each step of the end, with what still runs then. */
  ending(step: Ending, alive: readonly ProcessRow[]): void
}

/**
 * Ends a process tree: end of stdin, SIGTERM, SIGKILL, each to what is still running, until nothing is.
 * @throws `termination_failed`, naming the survivors
 */
export async function endTree({ tree, clock, graces, endStdin, exit, watch }: Ladder): Promise<void> {
  // Timers of a Clock do not keep the host running, but it must not exit while it waits for this.
  const hold = setInterval(() => {}, 60_000)
  try {
    // Before anything is signalled: orphans can no longer be found by their parent.
    const alive = tree.collect()
    watch?.ending('stdin', alive)
    endStdin?.()
    const hasEnded = exit !== undefined && (await settlesWithin(graces.stdinGraceMs, exit, clock))
    if (watch && hasEnded) await emptied(tree, clock.now() + watch.descendantGraceMs, clock)
    if (await signalUntilGone(tree, { signal: 'SIGTERM', withinMs: graces.termGraceMs, clock, watch })) return
    if (await signalUntilGone(tree, { signal: 'SIGKILL', withinMs: KILL_GRACE_MS, clock, watch })) return
    throw survivors(tree.remaining())
  } finally {
    clearInterval(hold)
  }
}

/**
 * Ends processes that an earlier host left behind, each only if its start time is still the same.
 * @param graces milliseconds from SIGTERM to SIGKILL
 * @throws `termination_failed`, naming the survivors
 */
export async function endProcesses(
  processes: readonly AgentProcessInfo[],
  graces: Pick<Graces, 'termGraceMs'>,
  clock: Clock = systemClock,
): Promise<void> {
  const tree = new ProcessTree({ known: processes })
  await endTree({ tree, clock, graces: { ...graces, stdinGraceMs: 0 } })
}

/** Sends a signal to a process, or to a group by its negated id. A process that has ended, or is not ours, is no error. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  // 0 and -1 would reach our own group and everything; 1 is init; `undefined` is a spawn that failed.
  if (!Number.isSafeInteger(pid) || Math.abs(pid) <= 1 || pid === process.pid) return
  try {
    process.kill(pid, signal)
  } catch {
    // ESRCH: it has ended. EPERM: it belongs to another user; if it survives, the error names it.
  }
}

interface Step {
  readonly signal: 'SIGTERM' | 'SIGKILL'
  readonly withinMs: number
  readonly clock: Clock
  readonly watch: EndingWatch | undefined
}

async function signalUntilGone(tree: ProcessTree, { signal, withinMs, clock, watch }: Step): Promise<boolean> {
  const deadline = clock.now() + withinMs
  watch?.ending(signal, tree.collect())
  const signalled = new Set<number>()
  for (;;) {
    const alive = tree.collect()
    if (alive.length === 0) return true
    signalAll(alive, { leader: tree.leader?.pid, signal, signalled })
    await emptied(tree, deadline, clock)
    if (clock.now() >= deadline) return tree.collect().length === 0
  }
}

/**
 * The group in one call, so that no fork is missed, and the others one by one. SIGTERM is sent only once to each
 * process: some agents read a second one as "at once".
 */
function signalAll(alive: readonly ProcessRow[], { leader, signal, signalled }: Round): void {
  const inGroup = (row: ProcessRow): boolean => row.pgid === leader
  const fresh = signal === 'SIGKILL' ? alive : alive.filter(({ pid }) => !signalled.has(pid))
  if (leader !== undefined && fresh.some(inGroup)) sendSignal(-leader, signal)
  for (const row of fresh) {
    signalled.add(row.pid)
    if (!inGroup(row)) sendSignal(row.pid, signal)
  }
}

/** Waits until no recorded member is running or the deadline is reached. */
async function emptied(tree: ProcessTree, deadline: number, clock: Clock): Promise<void> {
  do await pause(clock, Math.min(POLL_MS, Math.max(0, deadline - clock.now())))
  while (tree.remaining().length > 0 && clock.now() < deadline)
}

interface Round {
  readonly leader: number | undefined
  readonly signal: NodeJS.Signals
  readonly signalled: Set<number>
}

function survivors(rows: readonly ProcessRow[]): AgentprotoError {
  const pids = rows.map(({ pid }) => pid)
  return new AgentprotoError(
    'termination_failed',
    `${pids.length} process(es) of the agent are still running after SIGKILL`,
    {
      given: pids.join(', '),
      hint: 'They are blocked in the kernel or belong to another user. End them by hand.',
      data: { pids },
    },
  )
}
