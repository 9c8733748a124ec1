import { existsSync } from 'node:fs'

export interface FleetKey {
  /** Whether the file was created now. */
  readonly isNew: boolean
  /** What another host has to have in its file. */
  readonly key: string
}

/**
 * The key that the gateways of a fleet share; created where no file is yet, for its owner alone.
 * @param path Absolute
 * @throws `path_invalid` if it cannot be created or read, if others may read it, or if it has no key
 */
export async function fleetKey(path: string): Promise<FleetKey> {
  const { createFleetKey, readFleetKey } = await import('@agentproto/fleet')
  const isNew = !existsSync(path)
  if (isNew) await createFleetKey(path)
  return { isNew, key: Buffer.from(await readFleetKey(path)).toString('base64url') }
}
