import { createClient, type Client, type Fetch } from '@agentproto/client'
import { warn, type CliContext } from './cli-context.js'
import { traceOptions } from './trace-options.js'

/**
 * Runs work against a gateway inside this process. It does not listen and stores nothing, and every agent has ended
 * when it resolves. The client uses the same HTTP interface as over a socket, so that there is one path.
 */
export async function withGateway(context: CliContext, work: (client: Client) => Promise<void>): Promise<void> {
  const { createGateway } = await import('@agentproto/runtime')
  const onProblem = (problem: string): void => warn(context, problem)
  const gateway = await createGateway({ store: 'memory', cwd: context.cwd, env: context.env, onProblem })
  try {
    const fetch: Fetch = async (url, init) => gateway.app.fetch(new Request(url, init))
    const address = { url: 'http://127.0.0.1', token: gateway.token }
    return await work(createClient({ ...address, fetch, ...traceOptions(context) }))
  } finally {
    await gateway.close()
  }
}
