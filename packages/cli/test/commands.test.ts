import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { createProgram } from '../src/program.js'

const context = { stdin: new PassThrough(), stdout: new PassThrough(), stderr: new PassThrough(), env: {}, cwd: '/' }

/** The names of the loaded commands, as `group` or `group: child, …`. */
async function loaded(...words: readonly string[]): Promise<readonly string[]> {
  const { commands } = await createProgram(context, () => () => Promise.resolve(), words)
  return commands
    .filter((command) => command.name() !== 'complete')
    .map((command) => {
      const children = command.commands.map((child) => child.name()).join(', ')
      return children === '' ? command.name() : `${command.name()}: ${children}`
    })
}

test('a command loads its own file and not the others', async () => {
  expect(await loaded('stop')).toEqual(['stop'])
  expect(await loaded('sessions', 'start', 'demo')).toEqual(['sessions: start'])
})

test('sessions without a further word loads no subcommand', async () => {
  expect(await loaded('sessions')).toEqual(['sessions'])
})

test('a group that is no command of its own loads its subcommands, for its help', async () => {
  expect(await loaded('adapters')).toEqual([
    'adapters: list, show, search, add, outdated, update, remove, doctor, install, setup, login, publish-check',
  ])
})

test('an unknown word loads its level, for suggestions, and not the level below', async () => {
  expect(await loaded('sesions')).toEqual(expect.arrayContaining(['run', 'sessions', 'adapters', 'doctor']))
  const [sessions = ''] = await loaded('sessions', 'strat')
  expect(sessions).toContain('start')
})
