import { createParser, type EventSourceMessage } from 'eventsource-parser'

export interface StreamRequest {
  readonly token: string
  readonly lastEventId?: string
  readonly signal?: AbortSignal
}

/** The messages of an event stream, read without our client. */
export async function* readEventStream(url: string, request: StreamRequest): AsyncGenerator<EventSourceMessage> {
  const { token, lastEventId, signal = null } = request
  const headers = {
    accept: 'text/event-stream',
    authorization: `Bearer ${token}`,
    ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
  }
  const response = await fetch(url, { headers, signal })
  if (response.status !== 200 || !response.body) throw new Error(`${url} answered ${response.status}`)
  const messages: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (message) => messages.push(message) })
  const decoder = new TextDecoder()
  for await (const chunk of response.body) {
    parser.feed(decoder.decode(chunk, { stream: true }))
    yield* messages.splice(0)
  }
}
