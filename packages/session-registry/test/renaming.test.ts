import type { Principal } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { echo, type Script, scripted } from './fixtures/scripted-agent.js'
import {
  allEvents,
  constantFolder,
  fileRegistry,
  memoryRegistry,
  owner,
  resumableAdapters as adapters,
  temporaryHome,
} from './fixtures/test-registry.js'

const canResume = { resume: true }

test('12.B6 a rename of a live session reaches the list, its log and watchers, and the title of the agent does not replace it', async () => {
  const script: Script = ({ emit }) =>
    emit({ type: 'title', title: 'the agent’s' }, { type: 'turn-end', reason: 'end_turn' })
  const { registry } = await memoryRegistry(scripted(script))
  const { id } = await registry.spawn({ adapter: 'fake', label: 'old' }, owner)
  const watcher = registry.watch()
  const renamed = await registry.rename(id, { title: 'A person’s', label: 'new' }, owner)
  expect(renamed).toMatchObject({ id, title: 'A person’s', label: 'new' })
  expect(await watcher.next()).toMatchObject([{ type: 'session', session: { id, label: 'new' } }])
  expect((await registry.list({ label: 'new' })).sessions).toHaveLength(1)
  expect((await allEvents(registry, id)).at(-1)).toMatchObject({ type: 'title', title: 'A person’s' })
  await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'x' }, owner)).turn)
  expect(await registry.get(id)).toMatchObject({ title: 'A person’s' })
  const unnamed = await registry.rename(id, { title: null, label: null }, owner)
  expect([unnamed.title, unnamed.label]).toEqual([undefined, undefined])
  await registry.waitTurn(id, (await registry.prompt(id, { prompt: 'x' }, owner)).turn)
  expect(await registry.get(id)).toMatchObject({ title: 'the agent’s' })
})

test('12.B6 an ended session is renamed too; its log does not grow, and the next gateway knows the names', async () => {
  const home = await temporaryHome()
  const options = { ...scripted(echo, canResume), adapters }
  const registry = await fileRegistry(home, options)
  const { id } = await registry.spawn({ adapter: 'fake', prompt: 'x' }, owner)
  await registry.waitTurn(id, 1)
  await registry.kill(id, owner)
  const { lastSeq } = await registry.get(id)
  await registry.rename(id, { title: 'Kept', label: 'kept' }, owner)
  expect((await registry.get(id)).lastSeq).toBe(lastSeq)
  await registry.close()
  const next = await fileRegistry(home, options)
  expect(await next.get(id)).toMatchObject({ title: 'Kept', label: 'kept', state: 'ended' })
  await next.archive.repair(id, { dryRun: false }, owner)
  expect(await next.resume(id, {}, owner)).toMatchObject({ title: 'Kept', label: 'kept' })
})

test('12.B6 a label of another live session is refused, also of one that is renamed at the same time', async () => {
  const { registry } = await memoryRegistry(scripted())
  const spawn = async (label?: string): Promise<string> =>
    (await registry.spawn({ adapter: 'fake', ...(label === undefined ? {} : { label }) }, owner)).id
  const [taken, one, two] = [await spawn('taken'), await spawn(), await spawn()]
  await expect(registry.rename(one, { label: 'taken' }, owner)).rejects.toMatchObject({
    code: 'label_in_use',
    message: expect.stringContaining(taken),
  })
  expect(await registry.get(one)).not.toHaveProperty('label')
  expect(await registry.rename(taken, { label: 'taken' }, owner)).toMatchObject({ label: 'taken' })
  const both = await Promise.allSettled([one, two].map((id) => registry.rename(id, { label: 'mine' }, owner)))
  expect(both.map(({ status }) => status)).toEqual(['fulfilled', 'rejected'])
  await registry.kill(taken, owner)
  expect(await registry.rename(two, { label: 'taken' }, owner)).toMatchObject({ label: 'taken' })
  // A spawn gives a label to group by, as AIP-46 has it.
  expect(await spawn('taken')).toEqual(expect.any(String))
})

test('12.B6 a refusal says nothing of sessions that the caller may not use, and no agent renames', async () => {
  const { registry } = await memoryRegistry({ ...scripted(), workspaces: constantFolder('/tmp', 'web') })
  const { id } = await registry.spawn({ adapter: 'fake', label: 'secret-plan' }, owner)
  const other = await registry.spawn({ adapter: 'fake' }, owner)
  const elsewhere: Principal = { type: 'token', name: 't', scope: 'operate', workspaces: ['docs'] }
  expect(await registry.rename(other.id, { label: 'secret-plan' }, elsewhere)).toMatchObject({ label: 'secret-plan' })
  const agent: Principal = { type: 'session', name: id, sessionId: id, delegates: true }
  await expect(registry.rename(other.id, { label: 'x' }, agent)).rejects.toMatchObject({ code: 'delegation_denied' })
})
