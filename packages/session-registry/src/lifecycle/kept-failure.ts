import type { SessionFailure } from '@agentproto/contracts'
import type { SessionHost } from '../session-host.js'
import { crashBundle, type CrashFacts } from './crash-bundle.js'
import { type Ending, failureOf } from './ending.js'

/** Ends that a person or a hook of the host asked for. */
const DELIBERATE: ReadonlySet<SessionFailure['kind']> = new Set(['cancellation', 'permission_failure'])

const CANCELLED_START = failureOf('cancellation', 'The session was ended before its agent had started')

/** The failure of an ending, also of a cancelled start, with the path of its crash bundle. */
export async function keptFailure(
  ending: Ending,
  { crashBundles, redact }: Pick<SessionHost, 'crashBundles' | 'redact'>,
  facts: Omit<CrashFacts, 'ending'>,
): Promise<SessionFailure | undefined> {
  const { failure = facts.session.status === 'starting' ? CANCELLED_START : undefined } = ending
  if (failure === undefined || crashBundles === undefined || DELIBERATE.has(failure.kind)) return failure
  const bundle = crashBundle({ ...facts, ending: { ...ending, failure } })
  const path = await crashBundles.write(bundle, redact).catch(() => undefined)
  return path === undefined ? failure : { ...failure, crashBundlePath: path }
}
