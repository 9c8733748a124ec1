import { launchOf } from '@agentproto/arm-testing'
import type { Launch } from '@agentproto/contracts/agent'
import { expect, test } from 'vitest'
import { findProgram } from '../../../tooling/programs.mjs'
import { needs } from '../../../tooling/needs.ts'
import { open } from './connecting.ts'

// Real prompts, each as it is on this machine; one that is not there is seen as skipped.

const launch = (command: string, args: readonly string[]): Launch => ({
  ...launchOf(args, { TERM: 'dumb', PS1: 'sh$ ' }),
  command,
})

test('node: values, errors, memory and several lines', async () => {
  const { say } = await open(launch(process.execPath, ['--interactive']), { prompt: '>', continuation: '\\.\\.\\.' })
  expect(await say('1 + 1')).toBe('2')
  expect(await say('const greeting = "grüße 🎉"')).toBe('undefined')
  expect(await say('greeting')).toBe("'grüße 🎉'")
  expect(await say('for (let i = 0; i < 3; i++) console.log(i)')).toBe('0\n1\n2\nundefined')
  expect(await say('nothing.at.all')).toContain('ReferenceError: nothing is not defined')
})

test('node: a turn that does not end is interrupted, and the prompt returns', async () => {
  const { session, sink, say } = await open(launch(process.execPath, ['--interactive']), { prompt: '>' })
  // Not console.log: Node's stdout stays silent after an interrupt inside of it.
  const sent = session.send([{ type: 'text', text: 'fs.writeSync(1, "on"); while (true) {}' }])
  await sink.until(() => sink.text.includes('on'))
  await session.cancel()
  await sent
  expect(sink.signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'cancelled' })
  expect(await say('40 + 2')).toContain('42')
})

test('python3: values, errors and memory', needs('python3'), async () => {
  const { say } = await open(launch(findProgram('python3') ?? '', ['-i', '-q']), {
    prompt: '>>>',
    continuation: '\\.\\.\\.',
  })
  expect(await say('x = 6 * 7')).toBe('')
  expect(await say('x')).toBe('42')
  expect(await say('print("a\\nb")')).toBe('a\nb')
  expect(await say('1 / 0')).toContain('ZeroDivisionError')
})

test('bash: output, exit of the shell', needs('bash'), async () => {
  const { say, turn, connection } = await open(launch(findProgram('bash') ?? '', ['--norc', '--noprofile', '-i']), {
    prompt: '(?<said>.*)sh\\$',
  })
  expect(await say('echo hello; printf "no newline"')).toBe('hello\nno newline')
  expect(await say('pwd')).toBe(launchOf([]).cwd)
  const signals = await turn('exit 3')
  expect(signals.at(-1)).toMatchObject({ type: 'turn-end', reason: 'error' })
  expect(await connection.ended).toMatchObject({ exitCode: 3, duringTurn: true })
})

test('bc has no prompt: the start fails within the time limit', needs('bc'), async () => {
  await expect(
    open(launch(findProgram('bc') ?? '', ['-q']), { prompt: '>' }, { handshakeMs: 500 }),
  ).rejects.toMatchObject({
    code: 'timeout',
  })
})

test('sqlite3: tables, and a query of several lines', needs('sqlite3'), async () => {
  const settings = { prompt: 'sqlite>', continuation: '\\.\\.\\.>', multiline: { open: '', close: '' } }
  const { say } = await open(launch(findProgram('sqlite3') ?? '', ['-interactive']), settings)
  expect(await say('create table t (x); insert into t values (1), (2);')).toBe('')
  expect(await say('select sum(x) from t;')).toBe('3')
})
