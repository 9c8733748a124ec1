import { getEventListeners } from 'node:events'
import { createClient, isAgentprotoError, type ClientOptions, type Fetch } from '@agentproto/client'
import { expect, test } from 'vitest'
import { event, fakeGateway, json, sse } from './fake-gateway.js'

// Whatever a follower waits for when it is aborted, it ends at once as cancelled and holds on to nothing.

type Answer = () => Promise<Response>

/** A promise that never settles, and reports when it is awaited. */
function blocked(): { readonly never: () => Promise<never>; readonly reached: Promise<void> } {
  let reportWait: () => void = () => undefined
  const reached = new Promise<void>((resolve) => (reportWait = resolve))
  const never = (): Promise<never> => {
    reportWait()
    return new Promise(() => undefined)
  }
  return { never, reached }
}

/** A `fetch` that ignores its signal: it answers from a list, and then with the last entry. */
function deaf(...answers: readonly Answer[]): Fetch {
  let calls = 0
  return async () => {
    const answer = answers[Math.min(calls++, answers.length - 1)]
    return answer === undefined ? Response.error() : answer()
  }
}

const stream = (text: string): Answer => {
  return () => Promise.resolve(new Response(text, { headers: { 'content-type': 'text/event-stream' } }))
}
const FOLLOWERS = ['events', 'stream', 'watch'] as const

/** How a follower ends that is aborted when something is reached, and what it leaves on the signal. */
async function abortedWhen(
  reached: Promise<void>,
  options: Partial<ClientOptions>,
  what: (typeof FOLLOWERS)[number] = 'events',
): Promise<unknown> {
  const abort = new AbortController()
  const { signal } = abort
  const client = createClient({ url: 'http://gateway', ...options })
  const items = what === 'watch' ? client.watch({ signal }) : client.sessions[what]('s1', { signal })
  const following = (async () => {
    for await (const _ of items) continue
  })()
  const outcome = following.catch((thrown: unknown) => thrown)
  await reached
  abort.abort()
  const thrown = await outcome
  return {
    code: isAgentprotoError(thrown) ? thrown.code : thrown,
    listeners: getEventListeners(signal, 'abort').length,
  }
}

const CANCELLED = { code: 'cancelled', listeners: 0 }

test.each(FOLLOWERS)('while %s connects with a fetch that ignores its signal', async (what) => {
  const { never, reached } = blocked()
  expect(await abortedWhen(reached, { fetch: deaf(never) }, what)).toEqual(CANCELLED)
})

test.each(FOLLOWERS)('while %s waits for its next message', async (what) => {
  const { never, reached } = blocked()
  const silent: Answer = () => Promise.resolve(new Response(new ReadableStream({ pull: never }, { highWaterMark: 0 })))
  const fetch = deaf(silent, () => Promise.resolve(Response.json({ sessions: [] })))
  expect(await abortedWhen(reached, { fetch }, what)).toEqual(CANCELLED)
})

test('while watch lists the sessions', async () => {
  const { never, reached } = blocked()
  expect(await abortedWhen(reached, { fetch: deaf(stream('event: ready\ndata: {}\n\n'), never) }, 'watch')).toEqual(
    CANCELLED,
  )
})

test('while somebody looks where the gateway is', async () => {
  const { never, reached } = blocked()
  expect(await abortedWhen(reached, { fetch: deaf(stream(event(1))), locate: never })).toEqual(CANCELLED)
})

test('while it pauses between two tries', async () => {
  const { never, reached } = blocked()
  // Time that stands still.
  const clock = { now: () => 0, after: (ms: number) => (ms < 1_000 && void never(), { cancel: () => undefined }) }
  expect(await abortedWhen(reached, { fetch: deaf(stream(event(1))), clock })).toEqual(CANCELLED)
})

test('an answer that comes after the abort is let go', async () => {
  let cancelled = false
  let answer: (response: Response) => void = () => undefined
  const fetch: Fetch = () => new Promise<Response>((resolve) => (answer = resolve))
  const abort = new AbortController()
  const items = createClient({ url: 'http://gateway', fetch }).sessions.events('s1', { signal: abort.signal })
  const outcome = items[Symbol.asyncIterator]()
    .next()
    .catch((thrown: unknown) => thrown)
  await new Promise((resolve) => setImmediate(resolve))
  abort.abort()
  expect(await outcome).toMatchObject({ code: 'cancelled' })
  answer(new Response(new ReadableStream({ cancel: () => void (cancelled = true) })))
  await expect.poll(() => cancelled).toBe(true)
})

test('two hundred followers that are left early leave no connection', async () => {
  let open = 0
  const gateway = await fakeGateway((request, response) => {
    if (request.path.startsWith('/sessions?')) return json(response, { sessions: [] })
    open += 1
    response.on('close', () => (open -= 1))
    sse(response).write(event(1))
  })
  const { sessions } = createClient({ url: gateway.url })
  for (let round = 0; round < 4; round += 1) {
    await Promise.all(
      Array.from({ length: 50 }, async () => {
        for await (const { seq } of sessions.events('s1')) if (seq === 1) break
      }),
    )
  }
  await expect.poll(() => open).toBe(0)
})
