import { createClient, type Session } from '@agentproto/client'
import { expect, test } from 'vitest'
import { findSession, pickSession } from '../src/session-ref.js'
import { session } from './samples.js'

const all = [
  session({ id: 's_abc111', label: 'try' }),
  session({ id: 's_abd222', label: 'twice', status: 'exited' }),
  session({ id: 's_xyz333', label: 'twice' }),
]
const pick = (ref: string): string => pickSession(all, ref).id

test('a session is found by its id, a prefix with or without s_, or its label', () => {
  expect(pick('s_abc111')).toBe('s_abc111')
  expect(pick('s_x')).toBe('s_xyz333')
  expect(pick('abd')).toBe('s_abd222')
  expect(pick('try')).toBe('s_abc111')
})

test('of several sessions with one label, the only live one is found', () => {
  expect(pick('twice')).toBe('s_xyz333')
})

test('an ambiguous name is refused with the candidates', () => {
  expect(() => pick('ab')).toThrow(/2 sessions match.*s_abc111 \(try\), s_abd222 \(twice\)/)
})

test('an unknown name is refused with the command that lists the ids', () => {
  expect(() => pick('nope')).toThrow(/Given: nope\. .*agentproto sessions/)
  expect(() => pick('')).toThrow(/No session/)
})

/** A gateway with this many sessions, the newest last, which answers lists like ours. */
function gatewayOf(sessions: readonly Session[]): Parameters<typeof findSession>[0] {
  const fetch = async (url: string): Promise<Response> => {
    const { pathname, searchParams } = new URL(url)
    if (pathname !== '/sessions') return Response.json({ code: 'session_not_found', detail: 'none' }, { status: 404 })
    const q = searchParams.get('q') ?? ''
    const limit = Math.min(Number(searchParams.get('limit')), 1_000)
    const found = sessions.filter(({ id, label = '', title = '' }) =>
      [id, label, title].some((text) => text.includes(q)),
    )
    const from = Number(searchParams.get('after') ?? 0)
    const page = found.toReversed().slice(from, from + limit)
    return Response.json({
      sessions: page,
      ...(from + limit < found.length ? { nextCursor: String(from + limit) } : {}),
    })
  }
  return createClient({ url: 'http://gateway', fetch })
}

test('a session is found among any number of newer ones, by label and by prefix', async () => {
  const many = Array.from({ length: 3_000 }, (_, index) =>
    session({ id: `s_n${String(index).padStart(13, '0')}`, title: 'was once old-one', label: `n${index}` }),
  )
  const client = gatewayOf([session({ id: 's_qqqqqqqqqqqqqq', label: 'old-one' }), ...many])
  expect((await findSession(client, 'old-one')).id).toBe('s_qqqqqqqqqqqqqq')
  expect((await findSession(client, 'qqqq')).id).toBe('s_qqqqqqqqqqqqqq')
  expect((await findSession(client, 's_qq')).id).toBe('s_qqqqqqqqqqqqqq')
  await expect(findSession(client, 'x'.repeat(500))).rejects.toMatchObject({ code: 'session_not_found' })
})
