import { readFile } from 'node:fs/promises'
import type { Principal, Session } from '@agentproto/contracts'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

const owner: Principal = { type: 'owner', name: 'owner' }

type Schema = Readonly<Record<string, unknown>>

/**
 * A validator of a published schema that also refuses keys which the schema does not have: readers ignore them,
 * and a gateway that sends them has outgrown its schema.
 */
async function strictly(name: string): Promise<ValidateFunction> {
  const text = await readFile(new URL(`../../../schemas/${name}.schema.json`, import.meta.url), 'utf8')
  const ajv = new Ajv2020({ strict: false, allErrors: true, formats: { 'date-time': isTime } })
  return ajv.compile(closed(JSON.parse(text) as Schema, true) as Schema)
}

const isTime = (text: string): boolean => !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text

/** Branches and what they refer to see only a part of their object, so that it is the object that is closed. */
function closed(value: unknown, isWhole: boolean, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => closed(item, isWhole, name))
  if (typeof value !== 'object' || value === null) return value
  const parts = Object.entries(value).map(([key, part]) => [
    key,
    closed(part, !['if', 'then', 'allOf'].includes(key) && key !== 'toolCall', key),
  ])
  const isObject = isWhole && 'properties' in value && name !== 'properties'
  return { ...Object.fromEntries(parts), ...(isObject ? { unevaluatedProperties: false } : {}) }
}

test('what a gateway sends fits the published schemas of sessions and events', { timeout: 60_000 }, async () => {
  const home = await temporaryHome()
  const { sessions } = await testGateway({ home })
  const sent: Session[] = []
  const { id } = await sessions.spawn(
    { adapter: 'demo', cwd: home, label: 'schemas', permissionMode: 'approve-all' },
    owner,
  )
  await sessions.configure(id, { permissionMode: 'approve-all' }, owner)
  for (const prompt of [
    'stream 2; think; write a.txt hello; read a.txt; run true; ask b.txt; plan; usage',
    'fail no',
    'crash 3',
  ]) {
    const { turn } = await sessions.prompt(id, { prompt }, owner)
    await sessions.waitTurn(id, turn)
    sent.push(await sessions.get(id))
  }
  const { records } = await sessions.events(id, 0, 1_000)
  const types = new Set(records.map(({ type }) => type))
  for (const type of [
    'text-delta',
    'thought',
    'tool-call',
    'tool-result',
    'agent-prompt-resolved',
    'plan',
    'turn-end',
    'error',
  ])
    expect(types).toContain(type)
  const isEvent = await strictly('stream-event')
  expect(records.filter(({ json }) => !isEvent(JSON.parse(json))).map(({ json }) => [json, isEvent.errors])).toEqual([])
  const isSession = await strictly('session')
  expect(sent.filter((session) => !isSession(session)).map((session) => [session, isSession.errors])).toEqual([])
})

test('an event or a session that is none is refused', async () => {
  const [isEvent, isSession] = [await strictly('stream-event'), await strictly('session')]
  const event = { seq: 1, ts: '2026-01-01T00:00:00.000Z', sessionId: 's', type: 'text-delta', text: 'x' }
  expect(isEvent(event)).toBe(true)
  for (const change of [{ seq: 0 }, { ts: 'now' }, { type: 'text' }, { text: 1 }, { odd: 1 }])
    expect(isEvent({ ...event, ...change })).toBe(false)
  expect(isSession({ id: 's' })).toBe(false)
})
