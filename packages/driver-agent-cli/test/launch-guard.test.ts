import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentSignal } from '@agentproto/contracts/agent'
import { createRedactor } from '@agentproto/secrets'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { RedactingSink } from '../src/launch/redacting-sink.ts'
import { environmentOf, launch, type Launching, prepare, program, quiet } from './guarded-launch.ts'

const VALUE = 'sk-guard-4711'
const hexOf = (char: string): string => `${char.charCodeAt(0).toString(16)},`
const MARK = '[redacted]'.replaceAll(/[^]/g, hexOf)

test('an agent gets its declared secrets, and its output is redacted', async () => {
  const made = await prepare({ auth: { ref: './SECRETS.md' } })
  expect(await environmentOf(made)).not.toHaveProperty('ACME_TOKEN')
  await made.host.secrets.set('acme/token', { kind: 'opaque', value: VALUE })
  expect((await environmentOf(made))['ACME_TOKEN']).toBe('[redacted]')
})

test('12.C3 each variable gets the part of a secret that its exposure names', async () => {
  const made = await prepare({ auth: { ref: './SECRETS.md' } })
  const file = join(made.folder, 'given')
  const env = { SMALL_TOKEN_FILE: file }
  const declared = made.adapter.secrets?.secrets.map((secret) => ({
    ...secret,
    kind: 'oauth' as const,
    fields: { ACME_TOKEN: 'refreshToken' },
  }))
  const adapter = { ...made.adapter, secrets: { secrets: declared ?? [] } }
  await made.host.secrets.set('acme/token', { kind: 'oauth', accessToken: 'access-4711', refreshToken: VALUE })
  await (await launch({ ...made, adapter }, { env })).stop()
  expect(readFileSync(file, 'utf8')).toBe(VALUE)
})

test('F57 a session is resumed with the current secrets, not with those of its first start', async () => {
  const made = await prepare({ auth: { ref: './SECRETS.md' } })
  const file = join(made.folder, 'given')
  const given = async (more: Launching): Promise<string> => {
    const agent = await launch(made, { ...more, env: { SMALL_TOKEN_FILE: file } })
    await agent.stop()
    return readFileSync(file, 'utf8')
  }
  await made.host.secrets.set('acme/token', { kind: 'opaque', value: VALUE })
  expect(await given({})).toBe(VALUE)
  await made.host.secrets.set('acme/token', { kind: 'opaque', value: `other-${VALUE}` })
  const origin = { how: 'load', agentSessionId: 's1' } as const
  expect(await given({ origin, moreArgs: ['--load'] })).toBe(`other-${VALUE}`)
  await made.host.secrets.remove('acme/token')
  expect(await given({ origin, moreArgs: ['--load'] })).toBe('')
})

test('a declared variable with the name of a secret is redacted', async () => {
  const env = await environmentOf(await prepare())
  expect([env['SMALL_API_KEY'], env['SMALL_TOKEN']]).toEqual(['[redacted]', '[redacted]'])
})

test('an agent that needs a setup is refused where the host cannot know whether it is done', async () => {
  const made = await prepare({ setup: [{ id: 'url', kind: 'prompt', prompt: 'Url?', persist: { env: 'ACME_URL' } }] })
  await expect(launch(made)).rejects.toMatchObject({
    code: 'setup_required',
    parts: { data: { pending: [{ id: 'url', kind: 'prompt', state: 'pending' }] } },
  })
})

test('an agent that ends with the code of an expired login is refused as such', async () => {
  const made = await prepare({ auth: { login: { cmd: 'small-agent login' }, expiry: { detect: 'exit_code:77' } } })
  program(made.folder, 'expired', 'exit 77')
  const host = { ...made.host, executables: { 'small-agent': join(made.folder, 'expired') } }
  await expect(launch({ ...made, host })).rejects.toMatchObject({
    code: 'auth_required',
    parts: { data: { login: 'small-agent login' } },
  })
})

test('a failure of the start is reported without secrets', async () => {
  const made = await prepare({ auth: { ref: './SECRETS.md' } })
  await made.host.secrets.set('acme/token', { kind: 'opaque', value: VALUE })
  program(made.folder, 'broken', 'echo "bad token $ACME_TOKEN" >&2; exit 1')
  const broken = {
    ...made,
    host: { ...made.host, executables: { 'small-agent': join(made.folder, 'broken') } },
  }
  const failed = await launch(broken).catch((error: unknown) => error)
  expect(failed).toMatchObject({ code: 'handshake_failed' })
  expect(JSON.stringify((failed as { toProblem(): unknown }).toProblem())).toContain('bad token [redacted]')
  expect(String(failed)).not.toContain(VALUE)
})

test('however an agent cuts its text into pieces, a secret is in no run of them', () => {
  const words = fc.array(fc.oneof(fc.constantFrom(VALUE, 'sk-', 'sk-guard', '-4711'), fc.string({ maxLength: 4 })))
  const cuts = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(words, cuts, (said, sizes) => {
      const redactor = createRedactor()
      redactor.add(VALUE)
      const out: AgentSignal[] = []
      const sink = new RedactingSink({ ...quiet, emit: (batch) => void out.push(...batch) }, redactor)
      const whole = said.join('')
      for (let at = 0, turn = 0; at < whole.length; turn++) {
        const size = sizes[turn % sizes.length] ?? 1
        void sink.emit([
          { type: 'text-delta', text: whole.slice(at, at + size) },
          ...(size === 1 ? [{ type: 'usage' as const }] : []),
        ])
        at += size
      }
      void sink.emit([{ type: 'turn-end', reason: 'end_turn' }])
      const emitted = out.map((signal) => (signal.type === 'text-delta' ? signal.text : '')).join('')
      // A piece of two letters is not held back.
      const around = whole.split(VALUE).map((text) => text.replaceAll(/[^]/g, hexOf))
      expect(emitted.replaceAll(/[^]/g, hexOf)).toMatch(
        new RegExp(`^${around.join(`(${hexOf('s')}(${hexOf('k')})?)?${MARK}`)}$`),
      )
      expect(out.at(-1)).toEqual({ type: 'turn-end', reason: 'end_turn' })
    }),
  )
})

test('what is no text is cleaned whole, and comes after the text that was before it', () => {
  const redactor = createRedactor()
  redactor.add(VALUE)
  const out: AgentSignal[] = []
  const sink = new RedactingSink({ ...quiet, emit: (batch) => void out.push(...batch) }, redactor)
  void sink.emit([{ type: 'text-delta', text: 'it is sk' }])
  void sink.emit([{ type: 'tool-call', toolCallId: 'c', title: `curl ${VALUE}`, input: { [VALUE]: [VALUE] } }])
  void sink.emit([{ type: 'thought', text: '-guard-4711' }])
  expect(out).toEqual([
    { type: 'text-delta', text: 'it is sk' },
    { type: 'tool-call', toolCallId: 'c', title: 'curl [redacted]', input: { '[redacted]': ['[redacted]'] } },
    { type: 'thought', text: '-guard-4711' },
  ])
})
