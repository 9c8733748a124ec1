import type { SessionEvent } from '@agentproto/contracts'
import type { EventRecord } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import type { AcpSessions } from '../../src/acp-host.ts'
import { CallerAccess } from '../../src/network/caller-access.ts'
import { ownSessions } from '../../src/network/own-sessions.ts'
import { fakeService } from '../fake-service.ts'
import { FakeSessions } from '../fake-sessions.ts'
import { OWNER } from './network-client.ts'

const PAGE_CHARS = 60_000

/** A log of a thousand events of a size, all of which one read brings. */
function sessionsWith(chars: number): AcpSessions {
  const text = 'x'.repeat(chars)
  const records = Array.from({ length: 1_000 }, (_, at): EventRecord => ({
    seq: at + 1,
    type: 'text-delta',
    json: JSON.stringify({ seq: at + 1, type: 'text-delta', text }),
  }))
  const fake = new FakeSessions()
  fake.add('s1')
  const service = {
    ...fakeService(fake),
    events: async (_: string, after: number, limit: number) => ({ records: records.slice(after, after + limit) }),
    follow: async (_: string, after: number) => {
      const batches = [{ records: records.slice(after) }]
      return { behind: 0, next: async () => batches.shift(), close: () => undefined }
    },
  }
  return ownSessions(service, new CallerAccess({ sessions: service }, { by: OWNER }), { pageChars: PAGE_CHARS })
}

async function pagesOf(sessions: AcpSessions): Promise<(readonly SessionEvent[])[]> {
  const pages: (readonly SessionEvent[])[] = []
  for (let after = 0; after < 1_000;) {
    const { events, nextAfter } = await sessions.eventsPage('s1', after, 1_000)
    pages.push(events)
    after = nextAfter
  }
  return pages
}

async function batchesOf(sessions: AcpSessions): Promise<(readonly EventRecord[])[]> {
  const options = { after: 0, signal: new AbortController().signal, onGap: () => undefined, onState: () => undefined }
  const batches: (readonly EventRecord[])[] = []
  for await (const batch of sessions.recordBatches?.('s1', options) ?? []) batches.push(batch)
  return batches
}

test.each([
  ['a page', pagesOf],
  ['a batch that is followed', batchesOf],
])(
  '%s of a log ends at its bound in characters, and nothing of the log is left out',
  async (_, partsOf) => {
    const numbers = Array.from({ length: 1_000 }, (__, at) => at + 1)
    for (const [chars, each] of [
      [PAGE_CHARS * 2, 1],
      [PAGE_CHARS / 4, 3],
      [10, 1_000],
    ] as const) {
      const parts = await partsOf(sessionsWith(chars))
      expect([chars, Math.max(...parts.map(({ length }) => length))]).toEqual([chars, each])
      expect(parts.flat().map(({ seq }) => seq)).toEqual(numbers)
    }
  },
  60_000,
)
