import { mkdtempSync, rmSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { PLANTED } from '../../secrets/test/planted.ts'
import { supportRedaction } from '../src/support/redaction.ts'

// What a support bundle redacts although the gateway does not know it.

async function redaction(): Promise<(text: string) => string> {
  const home = mkdtempSync(join(tmpdir(), 'agentproto-redaction-'))
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  const { stdin, stdout, stderr } = process
  return supportRedaction({ stdin, stdout, stderr, env: { AGENTPROTO_HOME: home }, cwd: home })
}

test('there are more than thirty kinds, all different', () => {
  expect(new Set(PLANTED.map(({ core }) => core)).size).toBe(PLANTED.length)
  expect(PLANTED.length).toBeGreaterThan(30)
})

test.each(PLANTED)('$kind: in a text, in a line of JSON, and in JSON within JSON', async ({ said, core }) => {
  const redact = await redaction()
  const line = `2026-11-22 the agent said: ${said}`
  for (const text of [line, JSON.stringify({ text: line }), JSON.stringify({ json: JSON.stringify({ text: line }) })])
    expect(redact(text)).not.toContain(core)
})

test('useful text is kept', async () => {
  const redact = await redaction()
  const lines = [
    'error: the agent ended with exit code 1; its last words: Cannot find module x',
    '{"sessionId":"s_0123456789abcdef","status":"running","turn":{"number":3,"state":"busy"}}',
    'GET http://127.0.0.1:7646/sessions?limit=10&after=abc 200',
    'the token was refused; password authentication is off',
    'author: someone, authentic, the basics of a task-based sketch-like plan',
    'commit 3268ff1d0e8b2a7c9f4e5d6c7b8a9f0e1d2c3b4a',
  ]
  expect(lines.map(redact)).toEqual(lines)
  expect(redact(`${homedir()}/work`)).toBe('~/work')
})
