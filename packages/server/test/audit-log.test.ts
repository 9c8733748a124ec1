import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Clock, type SessionEvent, systemClock } from '@agentproto/contracts'
import { createRedactor } from '@agentproto/secrets'
import { expect, onTestFinished, test } from 'vitest'
import { AuditLog, type AuditLogOptions } from '../src/audit/audit-log.js'
import { ToolAudit } from '../src/audit/tool-audit.js'
import { temporaryFolder } from './fixtures/temporary-folder.js'

type Line = Readonly<Record<string, unknown>>

const linesOf = async (home: string): Promise<readonly Line[]> =>
  (await readFile(join(home, 'logs', 'audit.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

async function openLog(options: Partial<AuditLogOptions> = {}): Promise<{ log: AuditLog; home: string }> {
  const home = await temporaryFolder()
  const clock: Clock = { now: () => Date.parse('2026-11-22T00:00:00.000Z'), after: systemClock.after }
  const path = join(home, 'logs', 'audit.jsonl')
  const log = new AuditLog({ path, clock, redact: (line) => line, onProblem: () => undefined, ...options })
  onTestFinished(() => log.close())
  return { log, home }
}

/** As vendors make them; none opens anything. */
const SHAPES: readonly string[] = [
  'sk-ant-api03-',
  'sk-proj-',
  'sk-or-v1-',
  'gsk_',
  'xai-',
  'hf_',
  'r8_',
  'pplx-',
  'AIza',
  'AKIA',
  'ASIA',
  'ghp_',
  'gho_',
  'ghs_',
  'github_pat_',
  'glpat-',
  'npm_',
  'pypi-',
  'dckr_pat_',
  'xoxb-',
  'xapp-',
  'SG.',
  'sk_live_',
  'rk_live_',
  'whsec_',
  'shpat_',
  'dop_v1_',
  'eyJhbGciOiJIUzI1NiJ9.',
  'vault:v1:',
  'p"ss\\w/rd&',
  'lin_api_',
  '-----BEGIN\n',
].map((shape, at) => `${shape}${'q7Zk2Vb9Xw4Tn6Rm'.repeat(2)}${at}`)

test('no known secret is in a line, whatever its shape and wherever a text is cut', async () => {
  const redactor = createRedactor()
  for (const secret of SHAPES) redactor.add(secret)
  const { log, home } = await openLog({ redact: (line) => redactor.redactJson(line) })
  const tools = new ToolAudit(log)
  const session = { sessionId: 's', turn: 1, ts: '', seq: 1 }
  const tokens = ['o', 't', 's'].map((kind) => `agp_${kind}_0123456789abcdef_${'a'.repeat(43)}`)
  const all = [...SHAPES, ...tokens]
  for (const [at, secret] of all.entries()) {
    log.write({
      kind: 'control',
      action: 'spawn',
      cwd: `/tmp/${secret}`,
      long: 'x'.repeat(500) + secret + 'x'.repeat(20_000),
    })
    const input = { command: `curl -H ${secret}`, near: 'x'.repeat(500) + secret, url: encodeURIComponent(secret) }
    const call = {
      type: 'tool-call',
      toolCallId: `${at}`,
      title: `${'x'.repeat(190)}${secret}`,
      input,
      ...session,
    } as const
    // As the registry gives it: what is stored has no known secret.
    tools.record([JSON.parse(redactor.redactJson(JSON.stringify(call))) as SessionEvent])
    tools.record([{ type: 'tool-result', toolCallId: `${at}`, status: 'completed', ...session }])
  }
  await log.close()
  const text = await readFile(join(home, 'logs', 'audit.jsonl'), 'utf8')
  expect((await linesOf(home)).length).toBe(all.length * 2)
  expect(text).not.toContain('q7Zk2V')
  expect(text).not.toContain('0123456789abcdef')
})

test('an argument whose name says that it is a secret is redacted, and a long one is cut', async () => {
  const { log, home } = await openLog()
  const tools = new ToolAudit(log)
  const session = { sessionId: 's', turn: 1, ts: '', seq: 1 }
  const input = {
    api_key: 'unknown',
    headers: { Authorization: 'Basic eDp5' },
    max_tokens: 5,
    text: 'y'.repeat(9_000),
  }
  tools.record([{ type: 'tool-result', toolCallId: 'a', status: 'failed', kind: 'fetch', input, ...session }])
  tools.record([
    { type: 'tool-result', toolCallId: 'b', status: 'failed', input: Array.from('z'.repeat(9_000)), ...session },
  ])
  await log.close()
  const [first, second] = await linesOf(home)
  expect(JSON.parse(String(first?.['arguments']))).toEqual({
    api_key: '[redacted]',
    headers: { Authorization: '[redacted]' },
    max_tokens: 5,
    text: `${'y'.repeat(512)}…`,
  })
  expect(first).toMatchObject({ status: 'failed', toolKind: 'fetch', call: 'a' })
  expect(String(second?.['arguments'])).toHaveLength(2_049)
})

test('a full file is rotated, and only so many are kept', async () => {
  const { log, home } = await openLog({ maxBytes: 1_024, files: 3 })
  for (let at = 0; at < 100; at++) log.write({ kind: 'control', action: 'prompt', at, filling: 'x'.repeat(40) })
  await log.close()
  const folder = join(home, 'logs')
  expect((await readdir(folder)).toSorted()).toEqual(['audit.jsonl', 'audit.jsonl.1', 'audit.jsonl.2'])
  const texts = await Promise.all(['.2', '.1', ''].map((end) => readFile(join(folder, `audit.jsonl${end}`), 'utf8')))
  // A file is full with the line that reaches the limit.
  expect(texts.every((text) => Buffer.byteLength(text) < 1_024 + 200)).toBe(true)
  const kept = texts
    .join('')
    .trim()
    .split('\n')
    .map((line) => (JSON.parse(line) as { at: number }).at)
  expect(kept).toEqual(kept.map((_, index) => 100 - kept.length + index))
})

test('a disk that refuses costs the lines only, and is reported once', async () => {
  const problems: string[] = []
  const { log } = await openLog({ path: '/dev/null/no-folder/audit.jsonl', onProblem: (text) => problems.push(text) })
  const big = 'x'.repeat(10_000)
  for (let at = 0; at < 50; at++) log.write({ kind: 'control', action: 'prompt', big })
  await log.close()
  log.write({ kind: 'control', action: 'after the end' })
  expect(problems).toEqual([expect.stringContaining('audit log')])
})
