import { randomBytes } from 'node:crypto'
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { defined, type Session, type SessionFailure } from '@agentproto/contracts'
import type { AgentProcessInfo, ProcessExit } from '@agentproto/contracts/agent'
import { type Ending, failureOf } from './ending.js'

/** What is kept of a failure for its analysis: bounded, redacted, readable by the owner only. */

export interface CrashBundle {
  readonly schema: 'agentproto.session_crash_bundle.v1'
  /** ISO-8601. */
  readonly at: string
  readonly session: Pick<Session, 'id' | 'adapterSlug' | 'workspaceSlug' | 'cwd' | 'startedAt' | 'turnCount' | 'hostId'>
  readonly agent?: { readonly name?: string; readonly version?: string; readonly sessionId?: string }
  readonly failure: NonNullable<Ending['failure']>
  readonly stopReason: Ending['stopReason']
  readonly process?: Partial<AgentProcessInfo> & ProcessExit
  readonly stderrTail?: string
}

/** Where bundles go. @returns its path */
export interface CrashBundleStore {
  write(bundle: CrashBundle, redact?: (text: string) => string): Promise<string>
}

/** What is known of a run at its end. */
interface RunFacts {
  readonly session: Session
  readonly process?: AgentProcessInfo | undefined
  readonly exit: ProcessExit
  readonly at: string
}

/** The failure of an ending, also of a cancelled start, with the path of its crash bundle. */
export async function keptFailure(
  ending: Ending,
  { crashBundles, redact }: { readonly crashBundles?: CrashBundleStore; readonly redact?: (text: string) => string },
  facts: RunFacts,
): Promise<SessionFailure | undefined> {
  const { failure = facts.session.status === 'starting' ? CANCELLED_START : undefined } = ending
  if (failure === undefined || crashBundles === undefined || DELIBERATE.has(failure.kind)) return failure
  const path = await crashBundles.write(crashBundle(facts, ending, failure), redact).catch(() => undefined)
  return path === undefined ? failure : { ...failure, crashBundlePath: path }
}

/** Ends that a person or a hook of the host asked for. */
const DELIBERATE: ReadonlySet<SessionFailure['kind']> = new Set(['cancellation', 'permission_failure'])

const CANCELLED_START = failureOf('cancellation', 'The session was ended before its agent had started')

function crashBundle({ session, process, exit, at }: RunFacts, ending: Ending, failure: SessionFailure): CrashBundle {
  const { id, adapterSlug, workspaceSlug, cwd, startedAt, turnCount, hostId, agent, agentSessionId } = session
  return {
    schema: 'agentproto.session_crash_bundle.v1',
    at,
    session: { id, adapterSlug, workspaceSlug, cwd, startedAt, turnCount, hostId },
    ...defined({
      agent: agent && defined({ name: agent.name, version: agent.version, sessionId: agentSessionId }),
      stderrTail: ending.stderrTail,
    }),
    failure,
    stopReason: ending.stopReason,
    process: { ...process, ...exit },
  }
}

const MAX_FIELD_CHARS = 32 * 1024
const MAX_BUNDLES = 200

/** `crash-bundles/<session>-<time>.json`, 0600; only the newest two hundred are kept. */
export class FileCrashBundles implements CrashBundleStore {
  readonly #directory: string

  constructor({ directory }: { readonly directory: string }) {
    this.#directory = directory
  }

  async write(bundle: CrashBundle, redact: (text: string) => string = (text) => text): Promise<string> {
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    const text = redact(JSON.stringify(bundle, (_, value: unknown) => bounded(value), 2))
    // The time goes first, so that names sort by age.
    const name = `${bundle.at.replaceAll(/[:.]/g, '-')}-${bundle.session.id}-${randomBytes(2).toString('hex')}.json`
    const path = join(this.#directory, name)
    await writeFile(path, `${text}\n`, { mode: 0o600, flag: 'wx' })
    await this.#trim()
    return path
  }

  async #trim(): Promise<void> {
    const names = (await readdir(this.#directory)).filter((name) => name.endsWith('.json')).toSorted()
    for (const name of names.slice(0, -MAX_BUNDLES)) await rm(join(this.#directory, name), { force: true })
  }
}

const bounded = (value: unknown): unknown =>
  typeof value === 'string' && value.length > MAX_FIELD_CHARS ? value.slice(-MAX_FIELD_CHARS) : value
