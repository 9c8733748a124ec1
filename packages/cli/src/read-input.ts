import { AgentprotoError } from '@agentproto/contracts'
import type { Input } from './cli-context.js'

/** The text of stdin as UTF-8. @throws `invalid_request` when there are more bytes, which are not read */
export async function readInput(stdin: Input, maxBytes: number): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of stdin) {
    const buffer = typeof chunk === 'string' ? Buffer.from(chunk) : Buffer.from(chunk as Uint8Array)
    bytes += buffer.length
    if (bytes > maxBytes)
      throw new AgentprotoError('invalid_request', 'There is too much on stdin', {
        expected: `at most ${maxBytes} bytes`,
      })
    chunks.push(buffer)
  }
  return Buffer.concat(chunks).toString('utf8')
}
