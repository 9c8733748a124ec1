import type { Distribution } from '@agentproto/acp-registry'
import { isAgentprotoError, systemClock } from '@agentproto/contracts'
import { lookUpNpm } from '../npm-package.js'
import type { ProvisionHost } from '../provision-host.js'

/** A size is worth a short wait. */
const WAIT_MS = 8_000

/** The size of what would be installed, where its server says it: of a package without its dependencies. Undefined when it does not. */
export async function downloadBytes(
  distribution: Distribution,
  host: ProvisionHost,
  signal: AbortSignal = new AbortController().signal,
): Promise<number | undefined> {
  // Not `AbortSignal.timeout`: Node forgets one that only a signal of `AbortSignal.any` follows, and nothing would end the wait.
  const limit = new AbortController()
  const timer = (host.clock ?? systemClock).after(WAIT_MS, () => limit.abort())
  try {
    return await bytesOf(distribution, host, AbortSignal.any([signal, limit.signal]))
  } finally {
    timer.cancel()
  }
}

async function bytesOf(
  distribution: Distribution,
  host: ProvisionHost,
  signal: AbortSignal,
): Promise<number | undefined> {
  switch (distribution.way) {
    case 'npx':
      return packageBytes(distribution, host, signal)
    case 'binary':
      return fileBytes(distribution.url, signal)
    case 'uvx':
      return undefined
    default:
      return distribution satisfies never
  }
}

async function packageBytes(
  { name, version, wanted }: Extract<Distribution, { way: 'npx' }>,
  host: ProvisionHost,
  signal: AbortSignal,
): Promise<number | undefined> {
  try {
    const wish = {
      name,
      signal,
      ...(version === undefined ? {} : { version }),
      ...(wanted === undefined ? {} : { wanted }),
    }
    return (await lookUpNpm(wish, host)).unpackedBytes
  } catch (thrown) {
    if (isAgentprotoError(thrown)) return undefined
    throw thrown
  }
}

/** Only the address itself is asked, and no redirect followed: the download checks each of them. */
async function fileBytes(url: string, signal: AbortSignal): Promise<number | undefined> {
  const response = await fetch(url, { method: 'HEAD', redirect: 'manual', signal }).catch(() => undefined)
  const length = Number(response?.ok === true ? response.headers.get('content-length') : Number.NaN)
  return Number.isSafeInteger(length) && length > 0 ? length : undefined
}
