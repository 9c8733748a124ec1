// The least an ACP client can do, on each wire: requests by their ids, and updates as bytes.
import { spawn } from 'node:child_process'
import { WebSocket } from 'ws'
import { cli } from './gateway.mjs'

const VERSION = { protocolVersion: 1, clientCapabilities: {} }

/** Over a WebSocket. `socket` is for those who want to stop reading. */
export async function acpOverSocket({ url, token }, path = '/acp/demo') {
  const headers = { authorization: `Bearer ${token}` }
  const socket = new WebSocket(`${url.replace('http', 'ws')}${path}`, { headers, perMessageDeflate: false })
  await new Promise((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  const calls = createCalls((message) => socket.send(JSON.stringify(message)))
  socket.on('message', calls.take)
  await calls.request('initialize', VERSION)
  const closed = new Promise((resolve) => socket.once('close', resolve))
  const close = async () => {
    socket.close()
    await closed
  }
  return { ...calls, socket, closed, close }
}

/** Over streamable HTTP: one event stream of the connection, and one of each session. */
export async function acpOverStreams(http, path = '/acp/demo') {
  const started = { jsonrpc: '2.0', id: 'first', method: 'initialize', params: VERSION }
  const { headers } = await http.send('POST', path, { body: started })
  const connection = { 'acp-connection-id': headers['acp-connection-id'] }
  const calls = createCalls((message) => {
    const { sessionId } = message.params ?? {}
    const more = sessionId === undefined ? connection : { ...connection, 'acp-session-id': sessionId }
    http.send('POST', path, { body: message, more }).catch(calls.fail)
  })
  const streams = [await http.stream(path, eventSplitter(calls.take), connection)]
  const follow = async (sessionId) => {
    const more = { ...connection, 'acp-session-id': sessionId }
    streams.push(await http.stream(path, eventSplitter(calls.take), more))
  }
  const close = async () => {
    await http.send('DELETE', path, { more: connection })
    for (const stream of streams) stream.close()
  }
  return { ...calls, follow, close }
}

/** Over the pipes of `agentproto acp`, as an editor runs it. */
export async function acpOverStdio({ home }, cwd) {
  const env = { ...process.env, AGENTPROTO_HOME: home, AGENTPROTO_DEMO_HOME: cwd }
  const child = spawn(process.execPath, [cli, 'acp', '--adapter', 'demo'], {
    cwd,
    env,
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const exited = new Promise((resolve) => child.once('exit', resolve))
  const calls = createCalls((message) => child.stdin.write(`${JSON.stringify(message)}\n`))
  child.stdout.on('data', lineSplitter(calls.take))
  await calls.request('initialize', VERSION)
  const close = async () => {
    child.stdin.end()
    await exited
  }
  return { ...calls, pid: child.pid, close }
}

/** A session of its own, in which it prompts. */
export async function openSession(client, cwd) {
  const { sessionId } = await client.request('session/new', { cwd, mcpServers: [] })
  await client.follow?.(sessionId)
  return {
    sessionId,
    prompt: (text) => client.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
  }
}

function createCalls(write) {
  const waiting = new Map()
  let next = 0
  let onUpdate = () => undefined
  const fail = (error) => {
    for (const { reject } of waiting.values()) reject(error)
  }
  return {
    fail,
    /** @param listener gets the bytes of each update */
    onUpdate: (listener) => (onUpdate = listener),
    request: (method, params) =>
      new Promise((resolve, reject) => {
        next += 1
        waiting.set(next, { resolve, reject })
        write({ jsonrpc: '2.0', id: next, method, params })
      }),
    /** One message as bytes. */
    take(bytes) {
      if (bytes.includes(UPDATE)) {
        onUpdate(bytes)
        return
      }
      const { id, result, error } = JSON.parse(bytes.toString())
      const { resolve, reject } = waiting.get(id) ?? {}
      waiting.delete(id)
      if (error === undefined) resolve?.(result)
      else reject?.(new Error(JSON.stringify(error)))
    },
  }
}

const UPDATE = Buffer.from('"method":"session/update"')

function lineSplitter(onLine) {
  let rest = Buffer.alloc(0)
  return (chunk) => {
    const bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk])
    let from = 0
    for (let at = bytes.indexOf(10); at >= 0; at = bytes.indexOf(10, from)) {
      if (at > from) onLine(bytes.subarray(from, at))
      from = at + 1
    }
    rest = bytes.subarray(from)
  }
}

/** The data of each event; comments and other fields are nothing to it. */
const eventSplitter = (onData) =>
  lineSplitter((line) => {
    if (line.subarray(0, DATA.length).equals(DATA)) onData(line.subarray(DATA.length))
  })

const DATA = Buffer.from('data: ')
