import { expect, test } from 'vitest'
import { removedText } from '../web/settings/removed-text.js'

const removed = { ok: true, slug: 'build', agentRemoved: true } as const

test('15.6 a removal names each consent that no adapter needs any more', () => {
  expect(removedText({ ...removed, consentsLeft: ['127.1:9001', 'nas.example:8080'] })).toEqual([
    'Removed build.',
    'No other adapter needs 127.1:9001: the owner of the gateway can remove it from endpoints.private in config.json.',
    'No other adapter needs nas.example:8080: the owner of the gateway can remove it from endpoints.private in config.json.',
  ])
  expect(removedText({ ...removed, consentsLeft: [] })).toEqual(['Removed build.'])
})

test('15.6 a removal says when another adapter has the name', () => {
  expect(removedText({ ...removed, agentRemoved: false })).toEqual([
    'Removed build. Another adapter has this name and is used now.',
  ])
})
