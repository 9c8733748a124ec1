import { createClient, type Client, type Fetch } from '@agentproto/client'
import { print, type Io } from './io.js'
import { traced } from './traced.js'

/**
 * Runs work against a gateway inside this process: nothing listens, nothing is stored, and every agent has
 * ended before it resolves. The client speaks to it as it would over a socket, so that there is one path.
 */
export async function withGateway(io: Io, work: (client: Client) => Promise<number>): Promise<number> {
  const { createGateway } = await import('@agentproto/runtime')
  const gateway = await createGateway({
    store: 'memory',
    cwd: io.cwd,
    onProblem: (problem) => print(io.stderr, `agentproto: ${problem}`),
  })
  try {
    const fetch: Fetch = async (url, init) => gateway.app.fetch(new Request(url, init))
    return await work(createClient({ url: 'http://127.0.0.1', token: gateway.token, fetch, ...traced(io) }))
  } finally {
    await gateway.close()
  }
}
