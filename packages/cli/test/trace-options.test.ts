import { expect, test } from 'vitest'
import { fakeGateway, json } from '../../client/test/fake-gateway.ts'
import { connect } from '../src/daemon/connect.ts'
import { clientServices } from '../src/client-services.ts'

const own = { traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01', tracestate: 'a=1' }
const another = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00' }

test('a command passes the trace of its environment to the gateway, except for calls with their own', async () => {
  const { url, seen } = await fakeGateway((_, response) => json(response, { id: 's1', sessions: [] }))
  const environment = { AGENTPROTO_URL: url, AGENTPROTO_TOKEN: 't' }
  const sent = async (env: Record<string, string>, by: object = {}): Promise<unknown[]> => {
    const { stdin, stdout, stderr } = process
    const context = { env: { ...environment, ...env }, stdin, stdout, stderr, cwd: '/' }
    const { sessions } = clientServices(await connect(context))
    await sessions.spawn({ adapter: 'demo' }, { type: 'owner', name: 'mcp', ...by })
    const { traceparent, tracestate } = seen.at(-1)?.headers ?? {}
    return [traceparent, tracestate]
  }
  expect(await sent({})).toEqual([undefined, undefined])
  expect(await sent({ TRACEPARENT: own.traceparent, TRACESTATE: own.tracestate })).toEqual(Object.values(own))
  expect(await sent({ TRACEPARENT: 'what?', TRACESTATE: own.tracestate })).toEqual([undefined, undefined])
  // Nothing of the command's own trace is mixed into the trace of a call.
  expect(await sent({ TRACEPARENT: own.traceparent, TRACESTATE: own.tracestate }, { trace: another })).toEqual([
    another.traceparent,
    undefined,
  ])
})
