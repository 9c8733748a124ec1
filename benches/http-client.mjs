// The least a client can do over HTTP: kept-alive connections, and streams read as bytes.
import { Agent, request } from 'node:http'

const agent = new Agent({ keepAlive: true, maxSockets: 256 })

export function createHttp({ url, token }) {
  const headers = { authorization: `Bearer ${token}` }
  /** Resolves with headers and text of a response below 400. */
  const send = (method, path, { body, more = {} } = {}) =>
    new Promise((resolve, reject) => {
      const payload = body === undefined ? undefined : JSON.stringify(body)
      const sent = request(`${url}${path}`, {
        method,
        agent,
        headers:
          payload === undefined
            ? { ...headers, ...more }
            : {
                ...headers,
                ...more,
                'content-type': 'application/json',
                'content-length': Buffer.byteLength(payload),
              },
      })
      sent.on('error', reject)
      sent.on('response', (response) => {
        const chunks = []
        response.on('data', (chunk) => chunks.push(chunk))
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          if (response.statusCode >= 400) reject(new Error(`${method} ${path}: ${response.statusCode} ${text}`))
          else resolve({ headers: response.headers, text })
        })
      })
      sent.end(payload)
    })
  const call = async (method, path, body) => JSON.parse((await send(method, path, { body })).text)
  /** Opens a stream; `onBytes` gets each chunk. Resolves with a handle once the headers are there. */
  const stream = (path, onBytes, more = {}) =>
    new Promise((resolve, reject) => {
      const accept = 'text/event-stream'
      const sent = request(`${url}${path}`, { agent: false, headers: { ...headers, ...more, accept } })
      sent.on('error', reject)
      sent.on('response', (response) => {
        if (onBytes !== undefined) response.on('data', onBytes)
        resolve({ close: () => sent.destroy(), pause: () => response.pause(), response })
      })
      sent.end()
    })
  return { url, token, send, call, stream, close: () => agent.destroy() }
}

/** Counts SSE messages by their ids and checks that none is missing or repeated. */
export function sequenceChecker(first) {
  let next = first
  let rest = ''
  let ended = false
  return {
    get next() {
      return next
    },
    get ended() {
      return ended
    },
    push(chunk) {
      const text = rest + chunk.toString('latin1')
      let from = 0
      for (let at = text.indexOf('\nid: ', from); ; at = text.indexOf('\nid: ', from)) {
        const begins = from === 0 && text.startsWith('id: ') ? 0 : at < 0 ? -1 : at + 1
        if (begins < 0) break
        const end = text.indexOf('\n', begins)
        const done = end < 0 ? -1 : text.indexOf('\n\n', end)
        if (done < 0) {
          rest = text.slice(begins)
          return
        }
        const seq = Number(text.slice(begins + 4, end))
        if (seq !== next) throw new Error(`event ${seq} came where ${next} was due`)
        next += 1
        if (text.startsWith('event: turn-end', end + 1)) ended = true
        from = done + 1
      }
      rest = text.slice(from)
    },
  }
}
