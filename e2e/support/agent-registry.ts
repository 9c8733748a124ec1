import { type LoopbackServer, startLoopbackServer } from './loopback-server.js'

/** A registry of ACP agents on loopback, with room for what its entries lead to. */
export interface AgentRegistry extends LoopbackServer {
  /** Address of its document. */
  readonly document: string
  /** Lists these entries from now on. */
  list(...entries: readonly object[]): void
}

export async function startAgentRegistry(...entries: readonly object[]): Promise<AgentRegistry> {
  const server = await startLoopbackServer()
  const list = (...agents: readonly object[]): void =>
    void server.put(PATH, JSON.stringify({ version: '1.0.0', agents }))
  list(...entries)
  return { ...server, document: `${server.url}${PATH}`, list }
}

const PATH = '/registry.json'

/** An entry that is good, with its distribution and whatever else a test is about. */
export const entryOf = (id: string, distribution: object, more: object = {}): object => ({
  id,
  name: `Agent ${id}`,
  version: '1.2.3',
  description: 'An agent of a test.',
  license: 'MIT',
  distribution,
  ...more,
})
