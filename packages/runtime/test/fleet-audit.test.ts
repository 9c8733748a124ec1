import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal } from '@agentproto/contracts'
import type { Gateway } from '@agentproto/runtime'
import { expect, test } from 'vitest'
import { needs } from '../../../tooling/needs.js'
import { knows, twoHosts } from './fixtures/two-hosts.js'

const owner: Principal = { type: 'owner', name: 'owner' }
const ci: Principal = { type: 'token', name: 'ci', scope: 'admin' }
type Line = Readonly<Record<string, unknown>>

const linesOf = async ({ home }: Gateway): Promise<readonly Line[]> =>
  (await readFile(join(home, 'logs', 'audit.jsonl'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)
    .filter(({ kind }) => kind === 'control')

test(
  '17.7 a change of a session of another host is in the audit logs of both, one of this host in its own alone',
  needs('nats-server'),
  async () => {
    const { a, b } = await twoHosts()
    const far = await a.sessions.spawn({ adapter: 'demo', cwd: a.home }, owner)
    await knows(b, far.id)
    await b.sessions.waitTurn(far.id, (await b.sessions.prompt(far.id, { prompt: 'hello' }, ci)).turn)
    const { ruleId } = await b.permissions.addRule({ sessionId: far.id }, { decision: 'deny', toolKind: 'edit' }, ci)
    await b.permissions.removeRule({ sessionId: far.id }, ruleId, ci)
    await b.sessions.kill(far.id, ci)
    await expect(b.sessions.configure(far.id, { mode: 'plan' }, ci)).rejects.toThrow()
    await b.sessions.forget(far.id, ci)
    const placed = await b.sessions.spawn({ adapter: 'demo', cwd: a.home, on: 'a' }, owner)
    await expect(b.sessions.spawn({ adapter: 'none', on: 'a' }, ci)).rejects.toMatchObject({
      code: 'placement_refused',
    })
    const near = await b.sessions.spawn({ adapter: 'demo', cwd: b.home }, owner)
    await b.sessions.kill(near.id, ci)
    await Promise.all([a.close(), b.close()])
    const [atA, atB] = [await linesOf(a), await linesOf(b)]
    const said = ({ principal, action, session, host, outcome }: Line): readonly unknown[] => {
      const { name, via } = principal as Principal
      return [name, via, action, session, host, outcome]
    }
    expect(atA.map(said)).toEqual([
      ['owner', undefined, 'spawn', far.id, undefined, 'ok'],
      ['ci', 'b', 'prompt', far.id, undefined, 'ok'],
      ['ci', 'b', 'rule-add', far.id, undefined, 'ok'],
      ['ci', 'b', 'rule-remove', far.id, undefined, 'ok'],
      ['ci', 'b', 'kill', far.id, undefined, 'ok'],
      ['ci', 'b', 'configure', far.id, undefined, 'session_ended'],
      ['ci', 'b', 'forget', far.id, undefined, 'ok'],
      ['owner', 'b', 'spawn', placed.id, undefined, 'ok'],
    ])
    expect(atB.map(said)).toEqual([
      ['ci', undefined, 'prompt', far.id, 'a', 'ok'],
      ['ci', undefined, 'rule-add', far.id, 'a', 'ok'],
      ['ci', undefined, 'rule-remove', far.id, 'a', 'ok'],
      ['ci', undefined, 'kill', far.id, 'a', 'ok'],
      ['ci', undefined, 'configure', far.id, 'a', 'session_ended'],
      ['ci', undefined, 'forget', far.id, 'a', 'ok'],
      ['owner', undefined, 'spawn', placed.id, 'a', 'ok'],
      ['ci', undefined, 'spawn', undefined, undefined, 'placement_refused'],
      ['owner', undefined, 'spawn', near.id, undefined, 'ok'],
      ['ci', undefined, 'kill', near.id, undefined, 'ok'],
    ])
  },
)
