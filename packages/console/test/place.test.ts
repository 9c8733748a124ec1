import { expect, test } from 'vitest'
import { addressOf, type Place, placeAt } from '../web/place.js'

const PLACES: readonly Place[] = [
  { name: 'needs-you' },
  { name: 'sessions' },
  { name: 'sessions', host: 'tower' },
  { name: 'sessions', host: 'a b&host=c/#?%' },
  { name: 'session', id: 's/1?' },
  { name: 'changes', id: 's_1' },
  { name: 'hosts' },
  { name: 'hosts', host: 'tower' },
  { name: 'usage' },
  { name: 'settings' },
]

test('15.1 each place has an address that leads to it', () => {
  expect(PLACES.map((place) => placeAt(addressOf(place)))).toEqual(PLACES)
})

test('15.1 an address that is none is the first place, and an empty host is none', () => {
  expect(['', '#', '#/nowhere', '#/sessions/%E0%A4%A/changes', '#/sessions?host='].map(placeAt)).toEqual([
    { name: 'needs-you' },
    { name: 'needs-you' },
    { name: 'needs-you' },
    { name: 'changes', id: '%E0%A4%A' },
    { name: 'sessions' },
  ])
})
