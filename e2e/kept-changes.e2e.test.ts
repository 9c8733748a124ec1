import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '@agentproto/client'
import { expect, test } from 'vitest'
import { needs } from '../tooling/needs.ts'
import { allEvents, ofType, startKeeping } from './support/kept-agents.js'
import { allowOnce, pendingPermission } from './support/pending-request.js'
import { git, repository } from './support/repository.js'

test(
  '16.3 a turn in a worktree that spans two gateways: its changes are those of the turn, and a rewind takes all of them back',
  needs('git'),
  async () => {
    const { first, next } = await startKeeping('kept-changes', { config: { checkpoints: { enabled: true } } })
    const folder = await repository(first)
    const { id, cwd } = await first.client.sessions.start({ adapter: 'demo', workspaceSlug: 'repo', worktree: true })
    await recorded(first.client, id, 1)
    await first.client.sessions.promptAndWait(id, { prompt: 'write before.txt early' })
    await recorded(first.client, id, 2)
    await first.client.sessions.prompt(id, { prompt: 'write one.txt changed; ask two.txt mine; write three.txt late' })
    const asked = await pendingPermission(first.client, id)
    await first.crash()

    const { client } = await next()
    await client.sessions.answer(id, asked.requestId, { optionId: allowOnce(asked) })
    expect(await client.sessions.waitTurn(id, 2)).toMatchObject({ reason: 'end_turn' })
    await recorded(client, id, 3)
    const changed = async (turn: number) => (await client.changes.list(id, { turn })).files.map(({ path }) => path)
    expect(await changed(1)).toEqual(['before.txt'])
    expect(await changed(2)).toEqual(['one.txt', 'three.txt', 'two.txt'])
    expect(existsSync(join(folder, 'two.txt'))).toBe(false)
    await client.changes.rewind(id, { turn: 1 })
    expect(readFileSync(join(cwd, 'one.txt'), 'utf8')).toBe('first\n')
    expect(readFileSync(join(cwd, 'before.txt'), 'utf8')).toBe('early\n')
    expect([existsSync(join(cwd, 'two.txt')), existsSync(join(cwd, 'three.txt'))]).toEqual([false, false])
    expect(await client.sessions.promptAndWait(id, { prompt: 'write after.txt' })).toMatchObject({ reason: 'end_turn' })
    await client.sessions.kill(id)
    await client.sessions.merge(id)
    expect(git(folder, 'ls-files').split('\n')).toEqual(['after.txt', 'before.txt', 'one.txt'])
    const checkpoints = ofType(await allEvents(client, id), 'checkpoint').map(({ turn }) => turn)
    expect(checkpoints).toEqual([...new Set(checkpoints)])
  },
)

/** Waits until the folder was recorded so often: a prompt on a busy machine does not wait for it as long as it may take. */
const recorded = (client: Client, id: string, times: number) =>
  expect.poll(async () => ofType(await allEvents(client, id), 'checkpoint').length).toBe(times)
