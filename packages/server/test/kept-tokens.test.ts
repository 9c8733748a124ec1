import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { KeptTokens } from '../src/access/kept-tokens.js'
import { SessionTokens } from '../src/access/session-tokens.js'

function home(): { readonly path: string; readonly problems: string[]; open(): SessionTokens } {
  const folder = mkdtempSync(join(tmpdir(), 'agentproto-tokens-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const path = join(folder, 'session-tokens.json')
  const problems: string[] = []
  return {
    path,
    problems,
    open: () => new SessionTokens(new KeptTokens(path, (problem) => void problems.push(problem))),
  }
}

test('16.3 the token of an agent that outlived its gateway is valid again, and only once the agent is adopted', () => {
  const { path, open } = home()
  const first = open()
  const [kept, gone] = [first.mint('s_kept', true), first.mint('s_gone', false)]
  const next = open()
  expect(next.authenticate(kept)).toBeUndefined()
  next.restore('s_kept')
  expect(next.authenticate(kept)).toMatchObject({ type: 'session', sessionId: 's_kept', delegates: true })
  expect(next.authenticate(gone)).toBeUndefined()
  // A gateway that ends in the middle of its start loses no token.
  const interrupted = open()
  interrupted.restore('s_gone')
  expect(interrupted.authenticate(gone)).toMatchObject({ sessionId: 's_gone' })
  next.forgetEarlier()
  const third = open()
  third.restore('s_gone')
  expect(third.authenticate(gone)).toBeUndefined()
  expect(readFileSync(path, 'utf8')).not.toContain(kept)
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

test('16.3 a token that was revoked stays so, and a new start has another one', () => {
  const { path, open } = home()
  const first = open()
  const old = first.mint('s_1', false)
  const current = first.mint('s_1', false)
  const next = open()
  next.restore('s_1')
  expect([old, current].map((token) => next.authenticate(token) === undefined)).toEqual([true, false])
  next.revoke('s_1')
  const last = open()
  last.restore('s_1')
  expect(last.authenticate(current)).toBeUndefined()
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ version: 1, tokens: [] })
})

test.each(['nonsense', '{"version":2,"tokens":[]}', '{"version":1,"tokens":[{"id":"x"}]}'])(
  '16.3 a file that cannot be read makes no token valid, and says so: %s',
  (content) => {
    const { path, problems, open } = home()
    const token = open().mint('s_1', false)
    writeFileSync(path, content)
    const next = open()
    next.restore('s_1')
    expect(next.authenticate(token)).toBeUndefined()
    expect(problems).toEqual([expect.stringContaining('cannot be read')])
  },
)

test('16.3 without a keeper no token is stored', () => {
  const tokens = new SessionTokens()
  const token = tokens.mint('s_1', false)
  expect(tokens.authenticate(token)).toBeDefined()
  expect(new SessionTokens().authenticate(token)).toBeUndefined()
})
