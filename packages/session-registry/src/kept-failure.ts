import type { SessionFailure } from '@agentproto/contracts'
import { crashBundle, type CrashBundleStore } from './crash-bundle.js'
import type { Ending } from './ending.js'

/** What a person or a hook of the host asked for is no crash. */
const DELIBERATE: ReadonlySet<SessionFailure['kind']> = new Set(['cancellation', 'permission_failure'])

/** The failure of an ending, with the path of what was kept of it. */
export async function keptFailure(
  ending: Ending,
  { crashBundles, redact }: { readonly crashBundles?: CrashBundleStore; readonly redact?: (text: string) => string },
  facts: Omit<Parameters<typeof crashBundle>[0], 'ending'>,
): Promise<SessionFailure | undefined> {
  const { failure } = ending
  if (failure === undefined || crashBundles === undefined || DELIBERATE.has(failure.kind)) return failure
  const bundle = crashBundle({ ...facts, ending: { ...ending, failure } })
  const path = await crashBundles.write(bundle, redact).catch(() => undefined)
  return path === undefined ? failure : { ...failure, crashBundlePath: path }
}
