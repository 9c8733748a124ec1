import type { SessionSandbox } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { createPaint } from '../src/render/paint.js'
import { renderSession } from '../src/render/session-details.js'
import { session } from './samples.js'

test('12.C1 the details of a session say plainly that it is not confined', () => {
  const lineOf = (sandbox?: SessionSandbox): string | undefined =>
    renderSession(
      { session: session(sandbox === undefined ? {} : { sandbox }), pending: [], turns: [] },
      { now: 0, paint: createPaint(false) },
    ).find((line) => line.startsWith('sandbox'))
  expect(lineOf({ provider: 'local', enforced: true })).toMatch(/^sandbox +local$/)
  expect(lineOf({ provider: 'local', enforced: false, reason: 'the manifest asks for no confinement' })).toMatch(
    /^sandbox +not confined: the manifest asks for no confinement$/,
  )
  expect(lineOf()).toBeUndefined()
})
