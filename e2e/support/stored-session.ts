import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createClient } from '@agentproto/client'
import { createGateway } from '@agentproto/runtime'
import { temporaryFolder } from './temporary-folder.js'

/** A home with one session, which has ended. */
export interface StoredSession {
  readonly home: string
  readonly id: string
}

/** What an event says, beside its number and time. */
export type StoredBody = Readonly<Record<string, unknown>> & { readonly type: string }

/** A session of the demo agent with so many more events as `bodyOf` says, which have never been read. */
export async function storeSession(events: number, bodyOf: (seq: number) => StoredBody): Promise<StoredSession> {
  const home = temporaryFolder('home')
  const id = await endedSession(home)
  const folder = join(home, 'sessions', id)
  const log = readFileSync(join(folder, 'events.jsonl'), 'utf8')
  const lines: string[] = []
  const ts = '2026-11-22T00:00:00.000Z'
  for (let seq = log.split('\n').length; seq <= events; seq++)
    lines.push(`${JSON.stringify({ seq, ts, sessionId: id, ...bodyOf(seq) })}\n`)
  writeFileSync(join(folder, 'events.jsonl'), log + lines.join(''))
  const record = readFileSync(join(folder, 'meta.json'), 'utf8')
  writeFileSync(join(folder, 'meta.json'), record.replace(/"lastSeq":\s*\d+/, `"lastSeq":${events}`))
  return { home, id }
}

async function endedSession(home: string): Promise<string> {
  const userHome = temporaryFolder('user')
  const env = { ...process.env, HOME: userHome, XDG_STATE_HOME: join(userHome, '.local', 'state') }
  const cwd = temporaryFolder('cwd')
  const gateway = await createGateway({ home, cwd, env, checkpoints: { enabled: false } })
  try {
    const { sessions } = createClient(await gateway.listen({ port: 0 }))
    const { id } = await sessions.start({ adapter: 'demo', cwd })
    await sessions.promptAndWait(id, { prompt: 'the very first prompt' })
    await sessions.kill(id)
    return id
  } finally {
    await gateway.close()
  }
}
