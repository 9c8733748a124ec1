import { asRecord, asString, defined } from '@agentproto/contracts'
import type { AgentCliManifest } from '@agentproto/manifest'

/** What a manifest says of the registry of ACP agents, in `metadata.agentproto`. */
export interface Origin {
  /** `registry_id`: the entry of the same agent, of a manifest that was not written from it. */
  readonly registryId?: string
  /** `registry`: the entry from which the manifest was written. */
  readonly entry?: {
    readonly id: string
    readonly version: string
    /** Of the whole entry. */
    readonly sha256?: string
    /** The file that it was read from; absent for the registry. */
    readonly file?: string
  }
  /** `tested`. */
  readonly tested?: string
}

/** A value of the wrong shape counts as absent. */
export function originOf({ metadata }: Pick<AgentCliManifest, 'metadata'>): Origin {
  const { registry_id: registryId, registry, tested } = asRecord(asRecord(metadata)['agentproto'])
  const { id, version, sha256, file } = asRecord(registry)
  const from = { id: asString(id), version: asString(version) }
  const isWhole = from.id !== undefined && from.version !== undefined
  return defined({
    registryId: asString(registryId),
    tested: asString(tested),
    entry: isWhole
      ? {
          id: from.id ?? '',
          version: from.version ?? '',
          ...defined({ sha256: asString(sha256), file: asString(file) }),
        }
      : undefined,
  })
}
