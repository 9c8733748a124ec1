import type { ServerResponse } from 'node:http'
import { type Fields, fieldsOf } from './plain-headers.js'
import { type Answer, PlainResponse } from './plain-response.js'

/** Sends a response, whoever made it; resolves when it is out, or its client is gone. */
export async function sendAnswer(response: Response, outgoing: ServerResponse): Promise<void> {
  const answer = PlainResponse.answerOf(response)
  if (answer === undefined) return sendNative(response, outgoing)
  const { status, fields, body } = answer
  if (body instanceof ReadableStream) return sendStream(body.getReader(), { status, fields }, outgoing)
  sendWhole(status, fields, { body, outgoing })
}

type Whole = { readonly body: Exclude<Answer['body'], ReadableStream>; readonly outgoing: ServerResponse }

function sendWhole(status: number, fields: Readonly<Fields>, { body, outgoing }: Whole): void {
  const bare = body === null && (outgoing.req.method === 'HEAD' || status === 204 || status === 304)
  // The head is written with the body, and both leave in one piece.
  outgoing.writeHead(status, bare ? headersOf(fields) : { ...fields, 'content-length': sizeOf(body) })
  outgoing.end(body ?? undefined)
}

const headersOf = (fields: Readonly<Fields>): Record<string, string | string[]> =>
  fields as Record<string, string | string[]>

const sizeOf = (body: Whole['body']): number => (body === null ? 0 : Buffer.byteLength(body))

type Head = Pick<Answer, 'status' | 'fields'>
type Chunks = ReadableStreamDefaultReader<Uint8Array>
type Chunk = Awaited<ReturnType<Chunks['read']>>

/** What is in one piece goes with its length, what comes piece by piece as it comes. */
async function sendNative(response: Response, outgoing: ServerResponse): Promise<void> {
  const { status, body } = response
  const fields = fieldsOf(response.headers)
  if (body === null) return sendWhole(status, fields, { body, outgoing })
  const chunks = body.getReader()
  const first = await chunks.read()
  if (first.done) return sendWhole(status, fields, { body: '', outgoing })
  const second = chunks.read()
  const known = await Promise.race([second, nextTurn()])
  if (known?.done === true) return sendWhole(status, fields, { body: first.value, outgoing })
  return sendStream(chunks, { status, fields, before: [Promise.resolve(first), second] }, outgoing)
}

const nextTurn = (): Promise<undefined> => new Promise((resolve) => setImmediate(resolve, undefined))

/** Pulled: a client that does not read stalls the source, one that goes ends it. */
async function sendStream(
  chunks: Chunks,
  { status, fields, before = [] }: Head & { readonly before?: readonly Promise<Chunk>[] },
  outgoing: ServerResponse,
): Promise<void> {
  const gone = (): void => void chunks.cancel().catch(() => undefined)
  outgoing.once('close', gone)
  if (outgoing.closed) gone()
  try {
    outgoing.writeHead(status, headersOf(fields))
    outgoing.flushHeaders()
    for (const chunk of before) await write(await chunk, outgoing)
    while (await write(await chunks.read(), outgoing));
    outgoing.end()
  } catch (thrown) {
    gone()
    throw thrown
  } finally {
    outgoing.off('close', gone)
  }
}

/** @returns false at the end */
async function write({ value, done }: Chunk, outgoing: ServerResponse): Promise<boolean> {
  if (done) return false
  if (!outgoing.write(value) && !outgoing.closed) await drained(outgoing)
  return true
}

function drained(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const settle = (): void => {
      outgoing.off('drain', settle)
      outgoing.off('close', settle)
      resolve()
    }
    outgoing.once('drain', settle)
    outgoing.once('close', settle)
  })
}
