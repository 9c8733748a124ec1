import { createClient } from '@agentproto/client'
import { expect, test } from 'vitest'
import { event, fakeGateway, json, sse, stopped } from './fake-gateway.js'

// AIP-46 lets a host add fields and event types, and has its consumers ignore what they do not know.

const line = (id: string, text: string): string =>
  `id: ${id}\nevent: line\ndata: {"line":"${text}","stream":"stdout","colour":"red"}\n\n`

test('AIP-46 Session with fields of a later version: is read as one without', async () => {
  const later = { id: 's1', status: 'running', pid: null, cost: { total: 1 } }
  const gateway = await fakeGateway(({ path }, response) =>
    json(response, path === '/sessions' ? { sessions: [later], total: 1 } : later),
  )
  const { sessions } = createClient({ url: gateway.url })
  expect(await sessions.get('s1')).toMatchObject({ id: 's1', status: 'running' })
  expect((await sessions.list()).sessions).toMatchObject([{ id: 's1' }])
})

test('AIP-46 SSE events of a later version: are passed over, in the lines and in the log', async () => {
  const gateway = await fakeGateway(({ path }, response) => {
    if (path.endsWith('/events?after=0')) {
      sse(response).end(`event: weather\ndata: {"rain":true}\n\n${event(1)}event: x\ndata: no JSON\n\n${stopped(2)}`)
      return
    }
    const last = 'id: 5.1\nevent: status\ndata: {"status":"exited","previous":"running"}\n\n'
    sse(response).end(
      `${line('3.1', 'one')}id: 4.1\nevent: weather\ndata: {"rain":true}\n\n${line('4.2', 'two')}${last}`,
    )
  })
  const { sessions } = createClient({ url: gateway.url })
  const lines: string[] = []
  for await (const item of sessions.stream('s1')) if (item.type === 'line') lines.push(item.line.line)
  expect(lines).toEqual(['one', 'two'])
  const seqs: number[] = []
  for await (const { seq } of sessions.events('s1')) seqs.push(seq)
  expect(seqs).toEqual([1, 2])
})
