import { beforeAll, describe, expect, test } from 'vitest'
import { compileExtended, type Vocabulary } from '../extended-vocabulary.ts'

/** A vocabulary, and the files that must decide about a new member of it: the compiler has to name each. */
interface Decided extends Vocabulary {
  readonly decidedIn: readonly string[]
}

/** A vocabulary that is a list `as const`, found by its last member. */
const listOf = (name: string, file: string, { last, decidedIn }: List): Decided => {
  const member = `new-${name.replaceAll(' ', '-')}`
  const [lastMember = ''] = /^'[a-z_-]+'/.exec(last) ?? []
  const extended = last.replace(lastMember, `${lastMember}, '${member}'`)
  return { name, file: `packages/${file}`, replace: [last, extended], member, decidedIn }
}
interface List {
  readonly last: string
  readonly decidedIn: readonly string[]
}

const VOCABULARIES: readonly Decided[] = [
  listOf('permission mode', 'contracts/src/agent-request.ts', {
    last: "'deny-all'] as const",
    decidedIn: [
      'session-registry/src/permissions/permission-policy.ts',
      'session-registry/src/permissions/agent-mode.ts',
      'session-registry/src/delegation/delegation.ts',
    ],
  }),
  listOf('stop reason', 'contracts/src/session.ts', {
    last: "'moved',\n] as const",
    decidedIn: ['contracts/src/session.ts', 'contracts/src/session-summary.ts'],
  }),
  listOf('session state', 'contracts/src/session.ts', {
    last: "'failed',\n] as const",
    decidedIn: ['contracts/src/session.ts', 'cli/src/render/session-order.ts', 'cli/src/render/sessions-table.ts'],
  }),
  listOf('turn-end reason', 'contracts/src/stream-event.ts', {
    last: "'timeout',\n] as const",
    decidedIn: ['cli/src/turn/turn-exit.ts'],
  }),
  listOf('protocol', 'contracts/src/agent/protocol-arm.ts', {
    last: "'proprietary'] as const",
    decidedIn: ['manifest/src/agent-cli-wire.ts'],
  }),
  listOf('install method', 'manifest/src/agent-cli-manifest.ts', {
    last: "'vendored'] as const",
    decidedIn: ['manifest/src/normalise-agent-cli.ts'],
  }),
  listOf('kind of tool', 'contracts/src/content.ts', {
    last: "'other',\n] as const",
    decidedIn: ['contracts/src/requests/request-text.ts'],
  }),
  listOf('kind of permission option', 'contracts/src/agent-request.ts', {
    last: "'reject_always'] as const",
    decidedIn: ['contracts/src/requests/request-text.ts', 'contracts/src/requests/permission-choices.ts'],
  }),
  listOf('scope', 'contracts/src/principal.ts', {
    last: "'admin'] as const",
    decidedIn: ['contracts/src/wire/access.ts'],
  }),
  {
    name: 'event type of an agent',
    file: 'packages/contracts/src/stream-event.ts',
    replace: ['export type StreamEvent = ', "export type StreamEvent = { readonly type: 'new-agent-event' } | "],
    member: 'new-agent-event',
    decidedIn: [
      'contracts/src/stream-event.ts',
      'session-registry/src/session/events.ts',
      'cli/src/render/event-line.ts',
    ],
  },
  {
    name: 'event type of the host',
    file: 'packages/contracts/src/host-event.ts',
    replace: ['export type HostEvent =', "export type HostEvent =\n  | { readonly type: 'new-host-event' }"],
    member: 'new-host-event',
    decidedIn: [
      'contracts/src/host-event.ts',
      'session-registry/src/session/events.ts',
      'cli/src/render/event-line.ts',
    ],
  },
]

describe('a new member of a closed vocabulary does not compile until each place has decided about it', () => {
  let errors: readonly string[]
  beforeAll(() => {
    errors = compileExtended(VOCABULARIES)
  }, 540_000)

  test.each(VOCABULARIES)('$name', ({ member, decidedIn }) => {
    const named = errors.filter((line) => line.includes(`"${member}"`))
    expect(decidedIn.filter((file) => !named.some((line) => line.startsWith(`packages/${file}(`)))).toEqual([])
  })

  test('the copy compiles where nothing was added', () => {
    expect(compileExtended([])).toEqual([])
  }, 540_000)
})
