import type { SessionSandbox } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { createPaint } from '../src/render/paint.js'
import { renderSession } from '../src/render/session-details.js'
import { factsOf, permissionFor } from './samples-requests.js'
import { session } from './samples.js'

test('12.C1 the details of a session say plainly that it is not confined', () => {
  const lineOf = (sandbox?: SessionSandbox): string | undefined =>
    renderSession(
      { session: session(sandbox === undefined ? {} : { sandbox }), pending: [], turns: [] },
      { now: 0, paint: createPaint(false), width: 100 },
    ).find((line) => line.startsWith('sandbox'))
  expect(lineOf({ provider: 'local', enforced: true })).toMatch(/^sandbox +local$/)
  expect(lineOf({ provider: 'local', enforced: false, reason: 'the manifest asks for no confinement' })).toMatch(
    /^sandbox +not confined: the manifest asks for no confinement$/,
  )
  expect(lineOf()).toBeUndefined()
})

test('14.1.2 the page of a session shows all that is decided, for a pipe without a limit of columns', () => {
  const command = `${'echo harmless; '.repeat(50)}rm -rf ~`
  const asked = permissionFor({ title: 'x'.repeat(85) }, factsOf({ toolKind: 'execute', commands: [command] }))
  const pending = {
    ...asked,
    sessionId: 's_1',
    turn: 1,
    state: 'pending',
    createdAt: '2026-11-22T10:00:00.000Z',
  } as const
  const page = { session: session(), pending: [pending], turns: [] }
  const rows = renderSession(page, { now: 0, paint: createPaint(false), width: Number.MAX_SAFE_INTEGER })
  expect(rows).toContain(`  Command  ${command}`)
  expect(rows).toContain('  --option no  Deny once: Reject')
})
