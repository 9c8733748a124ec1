import type { Readable } from 'node:stream'
import type { AnyMessage, Stream } from '@agentclientprotocol/sdk'
import type { Output } from './output.js'

/** Longest line taken from the client, in UTF-16 units; a longer one ends the connection. */
const MAX_LINE_CHARS = 64 * 1024 * 1024

/**
 * The SDK's stream over stdin and the one output. The SDK's own `ndJsonStream` would open a second path
 * to stdout, and its `Writable.toWeb` loses a chunk when the stream waits for drain.
 */
export function createMessageStream(input: Readable, output: Output): Stream {
  return {
    readable: new ReadableStream<AnyMessage>({ start: (controller) => readLines(input, output, controller) }),
    writable: new WritableStream<AnyMessage>({ write: (message) => output.message(message) }),
  }
}

function readLines(input: Readable, output: Output, controller: ReadableStreamDefaultController<AnyMessage>): void {
  let rest = ''
  input.setEncoding('utf8')
  input.on('data', (chunk: string) => {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    if (rest.length > MAX_LINE_CHARS) input.destroy(new Error(`a line is longer than ${MAX_LINE_CHARS} characters`))
    for (const line of lines) readLine(line, output, controller)
  })
  input.once('error', (error) => controller.error(error))
  // The connection stays open at the end of stdin: a stubborn agent keeps running without a client.
}

function readLine(line: string, output: Output, controller: ReadableStreamDefaultController<AnyMessage>): void {
  if (line.trim() === '') return
  try {
    // The SDK checks the shape of what it is handed.
    controller.enqueue(JSON.parse(line))
  } catch {
    output.message({ jsonrpc: '2.0', id: null, error: { code: -32700, message: 'Parse error' } })
  }
}
