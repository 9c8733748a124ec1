import { expect, test } from 'vitest'
import { open } from './connecting.ts'

const modern = {
  options: [
    {
      id: 'mode',
      name: 'Mode',
      category: 'mode',
      value: 'build',
      values: [
        { value: 'build', name: 'Build' },
        { value: 'plan', name: 'Plan' },
      ],
    },
    {
      id: 'model',
      name: 'Model',
      category: 'model',
      value: 'x',
      values: [
        { value: 'x', name: 'X' },
        { value: 'y', name: 'Y' },
      ],
    },
    { id: 'loud', name: 'Loud', value: false },
  ],
  modeId: 'build',
  modes: [
    { id: 'build', name: 'Build' },
    { id: 'plan', name: 'Plan' },
  ],
  modelId: 'x',
  models: [
    { id: 'x', name: 'X' },
    { id: 'y', name: 'Y' },
  ],
}

test('modes and models of older agents are reported and set by the older methods', async () => {
  const { sink, session, say } = await open('state')
  expect(sink.signals).toEqual([
    {
      type: 'config',
      config: {
        modes: [
          { id: 'ask', name: 'Ask' },
          { id: 'code', name: 'Code', description: 'Writes' },
        ],
        modeId: 'ask',
        models: [
          { id: 'a', name: 'A' },
          { id: 'b', name: 'B' },
        ],
        modelId: 'a',
      },
    },
  ])
  await session.configure({ mode: 'code' })
  await session.configure({ model: 'b' })
  expect(
    sink
      .ofType('config')
      .slice(1)
      .map(({ config }) => config),
  ).toEqual([{ modeId: 'code' }, { modelId: 'b' }])
  await say('calls')
  expect(JSON.parse(sink.text())).toEqual([
    { sessionId: 's1', modeId: 'code' },
    { sessionId: 's1', modelId: 'b' },
  ])
})

test('modes, models and options of newer agents are one list of options', async () => {
  const { sink, session, say } = await open('state modern')
  expect(sink.ofType('config').map(({ config }) => config)).toEqual([modern])
  await session.configure({ mode: 'plan' })
  await session.configure({ optionId: 'loud', value: true })
  expect(sink.ofType('config').at(-1)?.config).toMatchObject({ modeId: 'plan', options: [{}, {}, { value: true }] })
  await say('calls')
  expect(JSON.parse(sink.text())).toEqual([
    { sessionId: 's1', configId: 'mode', value: 'plan' },
    { sessionId: 's1', configId: 'loud', value: true, type: 'boolean' },
  ])
})

test('what the agent does not know is refused before it is asked', async () => {
  const older = await open('state')
  await expect(older.session.configure({ mode: 'warp' })).rejects.toMatchObject({
    code: 'mode_unknown',
    message: expect.stringContaining('ask, code'),
  })
  await expect(older.session.configure({ model: 'z' })).rejects.toMatchObject({ code: 'option_invalid' })
  await expect(older.session.configure({ optionId: 'loud', value: true })).rejects.toMatchObject({
    code: 'not_supported',
  })
  const newer = await open('state modern')
  await expect(newer.session.configure({ optionId: 'loud', value: 'very' })).rejects.toMatchObject({
    code: 'option_invalid',
  })
  await expect(newer.session.configure({ optionId: 'quiet', value: true })).rejects.toMatchObject({
    code: 'option_invalid',
  })
  await expect(newer.session.configure({ optionId: 'mode', value: true })).rejects.toMatchObject({
    code: 'option_invalid',
  })
  await expect(newer.session.configure({ model: 'y' })).rejects.toMatchObject({
    code: 'protocol_error',
    message: expect.stringContaining('no such model today'),
  })
  const none = await open('state none')
  await expect(none.session.configure({ mode: 'x' })).rejects.toMatchObject({ code: 'not_supported' })
  await expect(none.session.configure({ model: 'x' })).rejects.toMatchObject({ code: 'not_supported' })
  expect(none.sink.signals).toEqual([])
})

test('every update of the session’s state is emitted', async () => {
  const { say } = await open('state none')
  expect((await say('updates')).slice(0, -2)).toEqual([
    {
      type: 'plan',
      entries: [
        { content: 'One', status: 'completed', priority: 'high' },
        { content: 'Two', status: 'pending' },
      ],
    },
    { type: 'usage', used: 10, size: 100, cost: { amount: 0.5, currency: 'USD' } },
    { type: 'title', title: 'A title' },
    { type: 'extension', kind: 'session_info_update', payload: expect.anything() },
    { type: 'notice', severity: 'warning', text: 'Careful: hot' },
    { type: 'notice', severity: 'info', text: 'Context compaction completed: short' },
    { type: 'notice', severity: 'error', text: 'Context compaction failed: full' },
    { type: 'config', config: { modeId: 'code' } },
    { type: 'config', config: modern },
    { type: 'extension', kind: 'plan', payload: expect.anything() },
  ])
})

test('what is said before the session has an id reaches it', async () => {
  const { sink } = await open('state early')
  await expect.poll(() => sink.signals).toHaveLength(2)
  expect(sink.signals[1]).toEqual({
    type: 'config',
    config: { commands: [{ name: 'init', description: 'Begins', hint: 'where' }] },
  })
})
