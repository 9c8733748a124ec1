import { expect, test } from 'vitest'
import { matchingCommands, promptOf } from '../web/session/agent-commands.js'

const COMMANDS = [
  { name: 'compact', description: 'shortens the conversation' },
  { name: '/commit', description: 'commits' },
  { name: 'Review', description: 'reviews' },
]
const found = (text: string): readonly string[] => matchingCommands(COMMANDS, text).map(promptOf)

test('15.4 a prompt that begins with a slash offers the commands of the agent that begin so', () => {
  expect(found('/')).toEqual(['/compact ', '/commit ', '/Review '])
  expect(found('/com')).toEqual(['/compact ', '/commit '])
  expect(found('/rev')).toEqual(['/Review '])
  expect(found('/none')).toEqual([])
})

test('15.4 no command is offered in a text, nor after its name', () => {
  for (const text of ['', 'com', 'a /com', '/compact now', '/com\nx']) expect(found(text)).toEqual([])
})
