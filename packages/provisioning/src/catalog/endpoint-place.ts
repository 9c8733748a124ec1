import { lstat } from 'node:fs/promises'
import type { AdapterSummary } from '@agentproto/contracts/agent'
import type { AgentCliManifest } from '@agentproto/manifest'

interface Place {
  readonly directory: string
  readonly source: AdapterSummary['source']
}

/**
 * Where an adapter may say that its agent runs elsewhere: it is sent prompts, folders and secrets of the owner, who names the address.
 * The folder of a workspace is often written by others.
 */
const MAY: Readonly<Record<AdapterSummary['source'], boolean>> = {
  user: true,
  host: true,
  bundled: false,
  workspace: false,
}

/** Why an adapter may not have an endpoint; undefined where it may, or has none. */
export async function endpointProblem(
  manifest: AgentCliManifest,
  { directory, source }: Place,
): Promise<string | undefined> {
  if (manifest.protocol !== 'acp' || manifest.endpoint === undefined) return undefined
  if (!MAY[source])
    return `its manifest has an endpoint, ${manifest.endpoint.url}, and only the owner's own adapters may have one. If you trust that address, add it yourself: agentproto adapters add <url>`
  const isLink = (await lstat(directory).catch(() => undefined))?.isSymbolicLink() ?? true
  // What a link leads to may be changed by others.
  return isLink ? `its manifest has an endpoint, and ${directory} is a link: copy the folder there` : undefined
}

/** What is shown of an endpoint: never a value. */
export function endpointSummary(manifest: AgentCliManifest): AdapterSummary['endpoint'] {
  if (manifest.protocol !== 'acp' || manifest.endpoint === undefined) return undefined
  const { url, headers, secrets } = manifest.endpoint
  return { url, headers: Object.keys(headers), secrets: [...secrets] }
}
