import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http'
import { PlainRequest } from './plain-request.js'
import { requestUrl } from './request-url.js'
import { sendAnswer } from './send-answer.js'

/** How long what is left of a body is taken after its answer, in milliseconds; then the connection ends. */
const DRAIN_MS = 500

/** Beside the request it is handed what `@hono/node-server` hands on too: where the request came from. */
type Answering = (request: Request, env: { readonly incoming: IncomingMessage }) => Response | Promise<Response>

/**
 * Lets a function of `Request` and `Response` answer the requests of Node's server.
 * @param onProblem Told of an answer that could not be sent
 */
export function requestListener(answer: Answering, onProblem: (problem: unknown) => void): RequestListener {
  return function answerRequest(incoming, outgoing) {
    void respond(answer, incoming, outgoing).catch((thrown: unknown) => {
      // A client that goes away while it is answered is no problem of ours.
      if (!outgoing.closed) onProblem(thrown)
      if (outgoing.headersSent) outgoing.destroy()
      else refuse(500, outgoing)
    })
  }
}

async function respond(answer: Answering, incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> {
  const url = requestUrl(incoming)
  if (url === undefined) return refuse(400, outgoing)
  if (incoming.method !== 'GET' && incoming.method !== 'HEAD') outgoing.once('finish', () => drain(incoming))
  const request = new PlainRequest(url, incoming, outgoing)
  // It has what handlers and the MCP endpoint ask of a request; what it has not, it knows where to get.
  await sendAnswer(await answer(request as unknown as Request, { incoming }), outgoing)
}

function refuse(status: number, outgoing: ServerResponse): void {
  outgoing.writeHead(status, { connection: 'close', 'content-length': 0 }).end()
}

/** What is left of a body stands before the next request of the connection. */
function drain(incoming: IncomingMessage): void {
  if (incoming.complete || incoming.destroyed) return
  const { socket } = incoming
  const force = setTimeout(() => socket.destroySoon(), DRAIN_MS)
  force.unref()
  incoming.once('end', () => clearTimeout(force))
  incoming.once('close', () => clearTimeout(force))
  incoming.resume()
}
