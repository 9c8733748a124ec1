import { createAcpServer } from '@agentproto/acp-server'
import { expect, test } from 'vitest'
import { FakeSessions } from './fake-sessions.ts'

test('the example of the README', async () => {
  const sessions = new FakeSessions()
  const lines: string[] = []
  const requests = [
    { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: 1 } },
    { jsonrpc: '2.0', id: 2, method: 'session/new', params: { cwd: '/work', mcpServers: [] } },
  ]
  let answered = (): void => undefined
  const done = new Promise<void>((resolve) => (answered = resolve))
  const server = createAcpServer({
    sessions,
    open: async ({ cwd }) => ({ session: sessions.add('s1', { cwd }).snapshot(), attached: false }),
    info: { name: 'my-gateway', version: '1.0.0' },
    input: (async function* () {
      for (const request of requests) yield new TextEncoder().encode(`${JSON.stringify(request)}\n`)
      await done
    })(),
    write: (line) => {
      lines.push(line)
      if ((JSON.parse(line) as { id?: unknown }).id === 2) answered()
    },
  })
  await server.closed
  const answers = lines.map((line) => JSON.parse(line) as { id: number; result: object })
  expect(answers.find(({ id }) => id === 1)?.result).toMatchObject({ agentInfo: { name: 'my-gateway' } })
  expect(answers.find(({ id }) => id === 2)?.result).toMatchObject({ sessionId: 's1' })
})
