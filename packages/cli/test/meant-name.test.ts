import { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { withMeantName } from '../src/usage-errors/meant-name.js'

function messageFor(argv: readonly string[], known: readonly unknown[]): string {
  const error = new AgentprotoError('session_not_found', 'No session has this id or label', {
    given: argv.at(-1),
    hint: 'List the sessions with: agentproto sessions',
    data: { known },
  })
  const meant = withMeantName(argv, error)
  return isAgentprotoError(meant) ? meant.message : ''
}

test('14.3.2 the nearest name that exists is suggested, with the same command', () => {
  expect(messageFor(['sessions', 'kill', 'trry'], ['other', 'try'])).toBe(
    'No session has this id or label. Given: trry. Did you mean: agentproto sessions kill try? List the sessions with: agentproto sessions.',
  )
  expect(messageFor(['sessions', 'kill', 'trry'], ['unrelated'])).not.toContain('Did you mean')
})

test('14.3.2 a label of somebody else cannot become an option, a second line or a shell command', () => {
  expect(messageFor(['sessions', 'show', 'aal'], ['-all', '--al'])).not.toContain('Did you mean')
  expect(messageFor(['sessions', 'show', 'try'], ['try\n'])).not.toContain('Did you mean')
  expect(messageFor(['sessions', 'show', 'abcdefg'], ['$abcdef'])).toContain("agentproto sessions show '$abcdef'?")
  expect(messageFor(['sessions', 'show', 'abcdefg'], ['`bcdefg'])).toContain("agentproto sessions show '`bcdefg'?")
  expect(messageFor(['sessions', 'show', 'trry'], [1, null])).not.toContain('Did you mean')
})
