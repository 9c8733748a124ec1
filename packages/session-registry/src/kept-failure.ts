import type { SessionFailure } from '@agentproto/contracts'
import { crashBundle, type CrashBundleStore } from './crash-bundle.js'
import type { Ending } from './ending.js'

/** The failure of an ending, with the path of what was kept of it. */
export async function keptFailure(
  ending: Ending,
  { crashBundles, redact }: { readonly crashBundles?: CrashBundleStore; readonly redact?: (text: string) => string },
  facts: Omit<Parameters<typeof crashBundle>[0], 'ending'>,
): Promise<SessionFailure | undefined> {
  const { failure } = ending
  // What a person asked for is no crash.
  if (failure === undefined || crashBundles === undefined || failure.kind === 'cancellation') return failure
  const bundle = crashBundle({ ...facts, ending: { ...ending, failure } })
  const path = await crashBundles.write(bundle, redact).catch(() => undefined)
  return path === undefined ? failure : { ...failure, crashBundlePath: path }
}
