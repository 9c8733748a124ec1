import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, folder, serve } from './cli-process.js'

type Line = Readonly<Record<string, unknown>>

const linesOf = (home: string): readonly Line[] =>
  readFileSync(join(home, 'logs', 'audit.jsonl'), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Line)

test('a change without a gateway is recorded in the audit log once, without values', async () => {
  const home = folder()
  const work = folder('work')
  const run = async (...args: string[]): Promise<void> => void (await cli(args, { home, input: 'a-planted-value' }))
  await run('workspace', 'add', work, '--slug', 'work')
  await run('workspace', 'use', 'work')
  await run('workspace', 'trust', 'work')
  await run('workspace', 'distrust', 'work')
  await run('workspace', 'remove', 'work')
  await run('workspace', 'remove', 'work')
  await run('config', 'set', 'log.level', 'debug')
  await run('config', 'unset', 'log.level')
  await run('secrets', 'set', 'acme/key', '--store', 'file')
  await run('secrets', 'rm', 'acme/key')
  await run('token', 'create', '--name', 'ci', '--scope', 'read')
  await run('token', 'rotate', 'ci')
  await run('token', 'revoke', 'ci')
  await run('adapters', 'install', 'demo')
  // Reading is not a change.
  await run('workspace', 'list')
  await run('adapters')
  const lines = linesOf(home)
  expect(lines.map(({ action, outcome }) => [action, outcome])).toEqual([
    ['workspace-add', 'ok'],
    ['workspace-use', 'ok'],
    ['workspace-trust', 'ok'],
    ['workspace-distrust', 'ok'],
    ['workspace-remove', 'ok'],
    ['workspace-remove', 'workspace_not_found'],
    ['config-set', 'ok'],
    ['config-unset', 'ok'],
    ['secret-set', 'ok'],
    ['secret-remove', 'ok'],
    ['token-create', 'ok'],
    ['token-rotate', 'ok'],
    ['token-revoke', 'ok'],
    ['adapter-install', 'ok'],
  ])
  for (const line of lines)
    expect(line).toMatchObject({ kind: 'control', offline: true, principal: { type: 'owner', name: 'owner' } })
  expect(lines[0]).toMatchObject({ workspace: 'work', path: work })
  expect(JSON.stringify(lines)).not.toMatch(/a-planted-value|agp_t_/)
})

test('a running gateway records the change itself, once; with the audit log off nothing is recorded', async () => {
  const home = folder()
  await serve(home)
  await cli(['token', 'create', '--name', 'ci', '--scope', 'read'], { home })
  const made = () => linesOf(home).filter(({ action }) => action === 'token-create')
  // A gateway writes what is due together, some milliseconds later.
  await expect.poll(made).toMatchObject([{ outcome: 'ok', token: 'ci' }])
  expect(made()[0]).not.toHaveProperty('offline')
  const silent = folder()
  await cli(['config', 'set', 'audit', 'false'], { home: silent })
  await cli(['workspace', 'add', home, '--slug', 'x'], { home: silent })
  expect(linesOf(silent)).toMatchObject([{ action: 'config-set', key: 'audit' }])
})
