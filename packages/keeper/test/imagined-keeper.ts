import { once } from 'node:events'
import { mkdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { asRecord } from '@agentproto/contracts'
import { onTestFinished } from 'vitest'
import { encodeFrame, FrameReader, PEER_LIMITS } from '../src/program/frames.ts'

export interface Imagined {
  readonly wires: readonly number[]
  /** By operation; an answer for `hello` stands for what it would be. */
  readonly answers: Readonly<Record<string, object>>
  /** Ends after so many connections. */
  readonly endsAfter?: number
}

/** A keeper of a version that does not exist. @returns what it was asked */
export async function imaginedKeeper(folder: string, { wires, answers, endsAfter = Infinity }: Imagined) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  writeFileSync(`${folder}/secret`, '00'.repeat(32), { mode: 0o600 })
  const asked: Record<string, unknown>[] = []
  const server = createServer((socket) => {
    const frames = new FrameReader(PEER_LIMITS)
    socket.on('error', () => {})
    socket.on('data', (chunk) => {
      for (const { header } of frames.push(chunk)) {
        const request = asRecord(header)
        asked.push(request)
        const { id, op } = request
        const spoken = Array.isArray(request['wire']) ? request['wire'].filter((each) => wires.includes(each)) : []
        const hello = spoken.length > 0 ? { wire: spoken[0] } : { error: { code: 'wire_unsupported', wire: wires } }
        socket.write(encodeFrame({ id, ...(answers[String(op)] ?? hello) }))
        if (asked.length === endsAfter) server.close()
      }
    })
  })
  server.listen(`${folder}/1.sock`)
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return asked
}
