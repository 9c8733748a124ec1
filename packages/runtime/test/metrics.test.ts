import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

const owner = { type: 'owner', name: 'owner' } as const

test('/metrics tells of sessions, turns, queue, streams and the process, in Prometheus’ format', async () => {
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
  // Nobody reads the stream.
  expect(values.get('agentproto_stream_lag_events')).toBeGreaterThan(0)
  expect(values.get('agentproto_events_total')).toBeGreaterThan(10)
  expect(values.get('agentproto_resident_memory_bytes')).toBeGreaterThan(1e6)
  await stream.body?.cancel()
  expect(await scrape()).toContain('agentproto_streams 0\n')
  // Every sample is of a family that is described, and no line is anything else.
  const described = new Set([...text.matchAll(/^# TYPE (\w+) (?:counter|gauge|histogram)$/gm)].map(([, name]) => name))
  for (const name of values.keys())
    expect(described).toContain(/^\w+?(?=(?:_bucket|_sum|_count)?(?:\{|$))/.exec(name)?.[0])
  expect(text).toMatch(/^(?:(?:# (?:HELP|TYPE) [^\n]+|\w+(?:\{\w+="[^"\n]*"\})? [0-9.e+-]+)\n)+$/)
})
