import type { Client } from '@agentproto/client'

export type AdapterRemoved = Awaited<ReturnType<Client['adapters']['remove']>>

/** What was removed, and each consent that no adapter needs any more: a gateway never writes config.json. */
export function removedText({ slug, agentRemoved, consentsLeft }: AdapterRemoved): readonly string[] {
  const removed = agentRemoved ? `Removed ${slug}.` : `Removed ${slug}. Another adapter has this name and is used now.`
  return [removed, ...(consentsLeft ?? []).map(leftText)]
}

const leftText = (place: string): string =>
  `No other adapter needs ${place}: the owner of the gateway can remove it from endpoints.private in config.json.`
