import { AgentprotoError, systemClock } from '@agentproto/contracts'
import type { AgentProcessInfo, ArmLimits, Clock } from '@agentproto/contracts'
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
  /** Closes the agent's stdin, the polite way to ask it to end. */
  readonly endStdin?: () => void
  /** Settles when the leader ended. */
  readonly exit?: Promise<unknown>
}

/**
 * DESIGN §4: stdin end, SIGTERM, SIGKILL, each to whatever of the tree still lives, until nothing does.
 * @throws `termination_failed`, naming the survivors
 */
export async function endTree({ tree, clock, graces, endStdin, exit }: Ladder): Promise<void> {
  // Timers of a Clock do not keep the process alive; a host that awaits this must not end before it.
  const hold = setInterval(() => {}, 60_000)
  try {
    // Before anything is asked to end: orphans can no longer be found by their parent.
    tree.collect()
    endStdin?.()
    if (exit) await raceTimeout(exit, graces.stdinGraceMs, clock)
    if (await signalUntilGone(tree, { signal: 'SIGTERM', withinMs: graces.termGraceMs, clock })) return
    if (await signalUntilGone(tree, { signal: 'SIGKILL', withinMs: KILL_GRACE_MS, clock })) return
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

/** Sends a signal to a process, or to a group by its negated id. That it is gone, or not ours, is no failure. */
export function sendSignal(pid: number, signal: NodeJS.Signals): void {
  // 0 and -1 would reach our own group and everything; 1 is init; `undefined` is a spawn that failed.
  if (!Number.isSafeInteger(pid) || Math.abs(pid) <= 1 || pid === process.pid) return
  try {
    process.kill(pid, signal)
  } catch {
    // ESRCH: gone meanwhile. EPERM: another user's; if it survives, it is named at the end.
  }
}

interface Step {
  readonly signal: 'SIGTERM' | 'SIGKILL'
  readonly withinMs: number
  readonly clock: Clock
}

async function signalUntilGone(tree: ProcessTree, { signal, withinMs, clock }: Step): Promise<boolean> {
  const deadline = clock.now() + withinMs
  const told = new Set<number>()
  for (;;) {
    const alive = tree.collect()
    if (alive.length === 0) return true
    signalAll(alive, { leader: tree.leader?.pid, signal, told })
    await emptied(tree, deadline, clock)
    if (clock.now() >= deadline) return tree.collect().length === 0
  }
}

/**
 * The group in one call, so that a fork cannot slip through, and the others one by one. SIGTERM is told
 * once to each: to several agents a second one means "at once".
 */
function signalAll(alive: readonly ProcessRow[], { leader, signal, told }: Round): void {
  const inGroup = (row: ProcessRow): boolean => row.pgid === leader
  const fresh = signal === 'SIGKILL' ? alive : alive.filter(({ pid }) => !told.has(pid))
  if (leader !== undefined && fresh.some(inGroup)) sendSignal(-leader, signal)
  for (const row of fresh) {
    told.add(row.pid)
    if (!inGroup(row)) sendSignal(row.pid, signal)
  }
}

/** Waits until no remembered member lives or the deadline is reached. */
async function emptied(tree: ProcessTree, deadline: number, clock: Clock): Promise<void> {
  do await pause(Math.min(POLL_MS, Math.max(0, deadline - clock.now())), clock)
  while (tree.remaining().length > 0 && clock.now() < deadline)
}

interface Round {
  readonly leader: number | undefined
  readonly signal: NodeJS.Signals
  readonly told: Set<number>
}

const pause = (ms: number, clock: Clock): Promise<void> => new Promise((resolve) => clock.after(ms, resolve))

async function raceTimeout(wait: Promise<unknown>, ms: number, clock: Clock): Promise<void> {
  await new Promise<void>((resolve) => {
    const timer = clock.after(ms, resolve)
    void wait.finally(() => {
      timer.cancel()
      resolve()
    })
  })
}

function survivors(rows: readonly ProcessRow[]): AgentprotoError {
  const pids = rows.map(({ pid }) => pid)
  return new AgentprotoError('termination_failed', `${pids.length} process(es) of the agent still live after SIGKILL`, {
    given: pids.join(', '),
    hint: 'They are stuck in the kernel or belong to another user; end them by hand.',
    data: { pids },
  })
}
