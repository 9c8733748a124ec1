import { readFileSync } from 'node:fs'
import { asList, asNumber, asRecord, asString, defined, parseJson, randomId } from '@agentproto/contracts'
import { hasSurelyEnded, type RecordedProcess, recordedProcess } from '@agentproto/subprocess'
import { sync as writeAtomic } from 'write-file-atomic'

/** The gateways that served a home, one after the other, as a fleet knows them. */
export interface GatewayRuns {
  /** Of this gateway. */
  readonly own: string
  /** Whether an earlier gateway of the home, of this machine since it was booted, has surely ended. */
  hasEnded(run: string): boolean
  /** Nothing of this run follows, whatever becomes of its process. */
  end(): void
}

interface Run {
  readonly run: string
  /** Absent where the platform does not say enough. */
  readonly process?: RecordedProcess
  /** It says itself that it has ended. */
  readonly ended?: true
}

/** A gateway that is killed before it has joined leaves the runs that the fleet still knows. */
const KEPT = 8
/** Far more than so many runs have. */
const MAX_BYTES = 64 * 1024

/**
 * Adds this gateway to the runs of its home, and remembers those before. Only for the gateway that holds the lock of the home
 * (docs/decisions/fleet.md, "A gateway that was killed").
 * @param onProblem Called when the file cannot be written: the next gateway then waits for the lease of this one
 */
export function recordRun(path: string, onProblem: (problem: string) => void): GatewayRuns {
  const earlier = runsIn(path)
  const self: Run = { run: randomId('r'), ...defined({ process: recordedProcess() }) }
  write([self, ...earlier])
  return {
    own: self.run,
    hasEnded: (run) => earlier.some((each) => each.run === run && hasEnded(each)),
    end: () => write([{ ...self, ended: true }, ...earlier]),
  }
  function write(runs: readonly Run[]): void {
    try {
      writeAtomic(path, `${JSON.stringify({ runs: runs.slice(0, KEPT) }, null, 2)}\n`, { mode: 0o600 })
    } catch (thrown) {
      onProblem(`${path} cannot be written: ${thrown instanceof Error ? thrown.message : String(thrown)}`)
    }
  }
}

const hasEnded = ({ process, ended }: Run): boolean =>
  ended === true || (process !== undefined && hasSurelyEnded(process))

/** What cannot be understood proves nothing. */
function runsIn(path: string): readonly Run[] {
  try {
    const text = readFileSync(path, 'utf8')
    return text.length > MAX_BYTES
      ? []
      : asList(asRecord(parseJson(text))['runs'])
          .flatMap(runOf)
          .slice(0, KEPT)
  } catch {
    return []
  }
}

function runOf(value: unknown): readonly Run[] {
  const { run, process, ended } = asRecord(value)
  if (typeof run !== 'string' || run === '') return []
  const recorded = processOf(process)
  return [{ run, ...defined({ process: recorded }), ...(ended === true && { ended }) }]
}

function processOf(value: unknown): RecordedProcess | undefined {
  const parts = asRecord(value)
  const [pid, startTime, kernel] = [asNumber(parts['pid']), asString(parts['startTime']), asString(parts['kernel'])]
  if (pid === undefined || startTime === undefined || kernel === undefined) return undefined
  return { pid, startTime, kernel }
}
