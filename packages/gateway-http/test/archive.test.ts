import { expect, test } from 'vitest'
import { fakeGateway, TOKEN } from './fake-gateway.ts'

test('an export is streamed in the format that was asked for, as a file of the session’s name', async () => {
  const { call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  for (const [query, type, name] of [
    ['', 'application/x-ndjson', 'jsonl'],
    ['?format=json', 'application/json', 'json'],
    ['?format=md', 'text/markdown; charset=utf-8', 'md'],
  ]) {
    const response = await call('GET', `/sessions/s1/export${query}`)
    expect(response.headers.get('content-type')).toBe(type)
    expect(response.headers.get('content-disposition')).toBe(`attachment; filename="s1.${name}"`)
    expect(await response.text()).toMatch(name === 'md' ? /^# One session\n$/ : /^\{"format".*"id":"s1".*\}\n$/)
  }
  expect((await call('GET', '/sessions/none/export')).status).toBe(404)
  expect((await call('GET', '/sessions/s1/export?format=pdf')).status).toBe(400)
})

test('a transcript is JSON, or Markdown if Accept asks for it', async () => {
  const { call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  expect(await (await call('GET', '/sessions/s1/transcript')).json()).toMatchObject({ turns: [] })
  expect(await (await call('GET', '/sessions/s1/transcript?format=markdown')).text()).toBe('# One session\n')
  const accepted = await call('GET', '/sessions/s1/transcript', undefined, { accept: 'text/markdown' })
  expect(accepted.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
})

test('an import takes the lines of an export and answers with the session; a form is refused', async () => {
  const { app } = fakeGateway()
  const send = (type: string): Promise<Response> =>
    Promise.resolve(
      app.request('/sessions/import', {
        method: 'POST',
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': type },
        body: 'ж one\ntwo',
      }),
    )
  const response = await send('application/x-ndjson')
  expect([response.status, response.headers.get('location')]).toEqual([201, '../sessions/s1'])
  expect(await response.json()).toMatchObject({ id: 's1', label: 'ж one\ntwo' })
  expect((await send('text/plain')).status).toBe(415)
})

test('13.5 usage hands on what was asked, and refuses what is not valid', async () => {
  const { call } = fakeGateway()
  const report = await call('GET', '/usage?by=agent&from=2026-11-20&to=2026-11-21')
  expect(await report.json()).toMatchObject({ by: 'agent', from: '2026-11-20', to: '2026-11-21', total: { turns: 2 } })
  for (const query of ['?by=person', '?from=yesterday', '?to=2026-13-01', '?since=7d'])
    expect((await call('GET', `/usage${query}`)).status).toBe(400)
})

test('search, prune and repair hand on what was asked, and refuse what is not valid', async () => {
  const { call } = fakeGateway()
  await call('POST', '/sessions/agent', { adapter: 'demo' })
  expect(await (await call('GET', '/search?q=needle')).json()).toMatchObject({ hits: [{ excerpt: 'needle' }] })
  for (const query of ['', '?q=', '?q=x&limit=0', '?q=x&else=1'])
    expect((await call('GET', `/search${query}`)).status).toBe(400)
  const prune = (body: unknown): Promise<Response> => call('POST', '/sessions/prune', body)
  expect(await (await prune({ olderThanMs: 5, dryRun: true })).json()).toEqual({ dryRun: true, pruned: [] })
  expect((await prune({})).status).toBe(400)
  const repair = async (query: string): Promise<unknown> => (await call('POST', `/sessions/s1/repair${query}`)).json()
  expect(await repair('?dryRun=true')).toEqual({ id: 's1', dryRun: true, findings: [] })
  expect(await repair('')).toMatchObject({ dryRun: false })
})
