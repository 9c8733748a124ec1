import { observedBlock } from '@agentproto/manifest'
import { expect, test } from 'vitest'
import { adapterOrigin } from '../src/catalog/adapter-origin.ts'

const AT = '2026-11-23T10:00:00.000Z'
const ENTRY = {
  url: 'https://registry.example/registry.json',
  id: 'sample',
  name: 'Sample',
  version: '1.2.3',
  added_at: AT,
}

const originOf = (agentproto: unknown) => adapterOrigin({ metadata: { agentproto } })

test('18.3 an adapter of a registry has the entry that it came from, and what was measured', async () => {
  const failed = { at: AT, failed: { code: 'timeout', message: 'No answer' } } as const
  expect(await originOf({ registry: ENTRY, observed: observedBlock(failed) })).toEqual({
    registry: { source: ENTRY.url, id: 'sample', name: 'Sample', version: '1.2.3', addedAt: AT },
    observed: failed,
  })
  const { url: _, ...rest } = ENTRY
  expect(await originOf({ registry: { ...rest, file: '/entry.json' } })).toMatchObject({
    registry: { source: '/entry.json' },
  })
})

test('18.3 any other adapter has neither, nor one whose blocks are something else', async () => {
  expect(await originOf(undefined)).toEqual({})
  expect(await originOf({ registry: 'here', observed: { at: AT, more: 1 } })).toEqual({})
  expect(await originOf({ registry: { ...ENTRY, added_at: 'yesterday' } })).toEqual({})
})
