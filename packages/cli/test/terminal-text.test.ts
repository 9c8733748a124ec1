import { PassThrough } from 'node:stream'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Output, pass, print } from '../src/cli-context.js'
import { createPaint } from '../src/render/paint.js'
import { oneLine, printable, visible } from '../src/render/printable.js'
import { renderSession } from '../src/render/session-details.js'
import { session } from './samples.js'

const HARMFUL = /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u2028\u2029\p{Bidi_Control}]/u
const OURS = /\u001B\[(?:[12]|22|3[1-6]|39)m/g

function terminal(isTTY: boolean): { readonly stream: Output; readonly written: () => string } {
  const stream = Object.assign(new PassThrough(), { isTTY })
  return { stream, written: () => String(stream.read() ?? '') }
}

const hostile = fc.string({
  unit: fc.constantFrom(...'a;[]0m1K(\t\n\u001B\u009B\u0007\u0000\r\u202E\u2066\u200F\u2028'.split('')),
})

test('12.A7 what is written to a terminal contains no control characters of an agent, however they are combined', () => {
  fc.assert(
    fc.property(hostile, (text) => {
      expect(printable(text)).not.toMatch(HARMFUL)
      expect(oneLine(text)).not.toMatch(/[\n\t]/)
      expect(visible(text).replaceAll(OURS, '')).not.toMatch(HARMFUL)
      const { stream, written } = terminal(true)
      print(stream, [text, createPaint(true).red(text)])
      expect(written().replaceAll(OURS, '')).not.toMatch(HARMFUL)
      pass(stream, text)
      expect(written()).not.toMatch(HARMFUL)
    }),
  )
})

test('12.A7 a command that is hidden in an escape sequence is shown where somebody decides about it', () => {
  expect(oneLine('echo \u001B]0;rm -rf ~\u0007')).toBe(String.raw`echo \u001b]0;rm -rf ~\u0007`)
  expect(oneLine('rm \u202Egpj.exe')).toBe(String.raw`rm \u202egpj.exe`)
})

test('12.A7 colours of ours stay, JSON stays JSON, and a pipe gets the bytes of an agent', () => {
  const paint = createPaint(true)
  const painted = paint.bold(paint.red('a') + paint.dim('b') + paint.cyan(paint.green(paint.yellow(paint.blue('c')))))
  const { stream, written } = terminal(true)
  print(stream, painted)
  expect(written()).toBe(`${painted}\n`)
  const data = { text: 'a\u009B2J\u202Eb\u001B\u007F' }
  print(stream, JSON.stringify(data))
  const json = written()
  expect(json).not.toMatch(HARMFUL)
  expect(JSON.parse(json)).toEqual(data)
  const pipe = terminal(false)
  pass(pipe.stream, 'a\u001B[31m\r')
  expect(pipe.written()).toBe('a\u001B[31m\r')
})

test('12.A7 the page of a session shows the ids of an agent as text', () => {
  const evil = '\u001B]0;owned\u0007\u202E'
  const toolCall = { type: 'tool-call', toolCallId: evil, title: evil } as const
  const options = [{ optionId: evil, name: evil, kind: 'allow_once' }] as const
  const pending = { requestId: 'r', sessionId: 's', request: { kind: 'permission', toolCall, options } }
  const { stream, written } = terminal(true)
  const details = { session: session({ title: evil }), turns: [], pending: [pending as never] }
  print(stream, renderSession(details, { now: Date.now(), paint: createPaint(false), width: 100 }))
  expect(written()).not.toMatch(HARMFUL)
})
