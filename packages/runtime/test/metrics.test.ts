import { expect, test } from 'vitest'
import { parseExposition } from './fixtures/exposition.js'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

const owner = { type: 'owner', name: 'owner' } as const

test('/metrics has sessions, turns, queue, streams and the process, in Prometheus’ format', async () => {
  const home = await temporaryHome()
  const gateway = await testGateway({ home })
  const { sessions } = gateway
  const headers = { authorization: `Bearer ${gateway.token}`, host: 'localhost' }
  const scrape = async (): Promise<string> => (await gateway.app.request('/metrics', { headers })).text()
  const one = await sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'hi' }, owner)
  await sessions.waitTurn(one.id, 1)
  await sessions.kill(one.id, owner)
  await sessions.resume(one.id, {}, owner)
  const two = await sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'hang' }, owner)
  await sessions.prompt(two.id, { prompt: 'later', whenBusy: 'queue' }, owner)
  const three = await sessions.spawn({ adapter: 'demo', cwd: home }, owner)
  await sessions.kill(three.id, owner)
  const stream = await gateway.app.request(`/sessions/${two.id}/events`, {
    headers: { ...headers, accept: 'text/event-stream' },
  })

  const text = await scrape()
  const values = new Map(
    text.split('\n').flatMap((line) => {
      const at = line.lastIndexOf(' ')
      return line === '' || line.startsWith('#') ? [] : [[line.slice(0, at), Number(line.slice(at + 1))] as const]
    }),
  )
  const expected = {
    'agentproto_sessions{status="running"}': 2,
    'agentproto_sessions{status="killed"}': 1,
    'agentproto_sessions{status="error"}': 0,
    agentproto_sessions_busy: 1,
    agentproto_queued_prompts: 1,
    'agentproto_turns_total{reason="end_turn"}': 1,
    'agentproto_turn_duration_seconds_bucket{le="+Inf"}': 1,
    agentproto_turn_duration_seconds_count: 1,
    'agentproto_sessions_stopped_total{reason="user_canceled"}': 2,
    agentproto_session_restarts_total: 1,
    agentproto_streams: 1,
    agentproto_streams_refused_total: 0,
  }
  expect(Object.fromEntries(Object.keys(expected).map((name) => [name, values.get(name)]))).toEqual(expected)
  // The stream is not read.
  expect(values.get('agentproto_stream_lag_events')).toBeGreaterThan(0)
  expect(values.get('agentproto_events_total')).toBeGreaterThan(10)
  expect(values.get('agentproto_resident_memory_bytes')).toBeGreaterThan(1e6)
  await stream.body?.cancel()
  expect(await scrape()).toContain('agentproto_streams 0\n')
  // Strictly in the format, and no sample twice.
  expect(parseExposition(text).size).toBeGreaterThan(15)
})

test('every number follows what it counts, and goes back when that ends', async () => {
  const home = await temporaryHome()
  const gateway = await testGateway({ home })
  const { sessions } = gateway
  const headers = { authorization: `Bearer ${gateway.token}`, host: 'localhost' }
  async function at(name: string, labels = ''): Promise<number | undefined> {
    const answer = await gateway.app.request('/metrics', { headers })
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    return parseExposition(await answer.text())
      .get(`agentproto_${name}`)
      ?.samples.get(labels)
  }
  const until = { timeout: 20_000 }
  expect([await at('events_total'), await at('sessions', '{status="running"}')]).toEqual([0, 0])
  const { id } = await sessions.spawn({ adapter: 'demo', cwd: home, prompt: 'ask one.txt' }, owner)
  await expect.poll(() => at('sessions_awaiting_input'), until).toBe(1)
  expect([await at('sessions_busy'), await at('sessions', '{status="running"}')]).toEqual([0, 1])
  const [asked] = await sessions.requests(id)
  await sessions.answer({ id, requestId: asked?.requestId ?? '' }, { outcome: 'cancelled' }, owner)
  await sessions.waitTurn(id, 1)
  expect([await at('sessions_awaiting_input'), await at('sessions_busy')]).toEqual([0, 0])
  const { turn } = await sessions.prompt(id, { prompt: 'hang' }, owner)
  await sessions.prompt(id, { prompt: 'later', whenBusy: 'queue' }, owner)
  expect([await at('sessions_busy'), await at('queued_prompts')]).toEqual([1, 1])
  await sessions.interrupt(id, owner)
  await sessions.waitTurn(id, turn)
  await expect.poll(() => at('queued_prompts'), until).toBe(0)
  expect(await at('turns_total', '{reason="cancelled"}')).toBeGreaterThan(0)
  const [events, duration] = [await at('events_total'), await at('turn_duration_seconds', '_sum')]
  expect(events).toBeGreaterThan(5)
  expect(duration).toBeGreaterThan(0)
  await sessions.kill(id, owner)
  expect([await at('sessions', '{status="running"}'), await at('sessions', '{status="killed"}')]).toEqual([0, 1])
  expect(await at('sessions_stopped_total', '{reason="user_canceled"}')).toBe(1)
  expect(await at('session_restarts_total')).toBe(0)
  await sessions.resume(id, {}, owner)
  expect(await at('session_restarts_total')).toBe(1)
  expect(await at('uptime_seconds')).toBeGreaterThan(0)
  expect(await at('cpu_seconds_total')).toBeGreaterThan(0)
})
