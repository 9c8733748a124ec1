import { isAgentprotoError } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import type { SessionRecord } from '../src/directory/directory-records.ts'
import { Owners } from '../src/services/owners.ts'
import { testSession } from './support/test-host.ts'

/** Owners as host `here` sees them, of one session that `there` has and that is not whole there yet. */
function arriving({ isHeard }: { readonly isHeard: boolean }): Owners {
  const session = testSession('s_1', { state: 'unreachable' })
  const record: SessionRecord = { owner: 'there', epoch: 2, term: 't', session }
  const view = {
    session: (id: string) => (id === session.id ? record : undefined),
    sessions: () => [record],
    hosts: () => ['here', 'there'],
    isReachable: () => isHeard,
    watch: () => expect.unreachable(),
  }
  return new Owners({ host: 'here', view })
}

function codeOf(call: () => unknown): string | undefined {
  try {
    call()
    return undefined
  } catch (thrown) {
    return isAgentprotoError(thrown) ? thrown.code : String(thrown)
  }
}

test('17.6 a call for a session that another host is taking over is host_unreachable, never not found', () => {
  const owners = arriving({ isHeard: true })
  expect(codeOf(() => owners.otherOf('s_1'))).toBe('host_unreachable')
  expect(owners.otherShown('s_1')).toBe('there')
})

test('17.6 of a session whose next host is lost as well, that host is the other one', () => {
  expect(arriving({ isHeard: false }).otherOf('s_1')).toBe('there')
})
