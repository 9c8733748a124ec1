import { FairShares, type Principal } from '@agentproto/contracts'
import fc from 'fast-check'
import { expect, test } from 'vitest'

const owner: Principal = { type: 'owner', name: 'owner' }
const token = (name: string): Principal => ({ type: 'token', name, scope: 'read' })
const agent = (id: string): Principal => ({ type: 'session', name: `session ${id}`, sessionId: id, delegates: false })
const nothing = (): void => undefined

/** Takes as many places as it gets. @returns how many */
function takeAll(shares: FairShares, by: Principal): number {
  let taken = 0
  while (taken < 1_000 && shares.take(by, nothing) !== undefined) taken++
  return taken
}

test('12.A6 one caller has an eighth, the tokens a half, the agents a quarter, the owner the rest', () => {
  const shares = new FairShares(64)
  const tokens = Array.from({ length: 4 }, (_, n) => takeAll(shares, token(`t${n}`)))
  const agents = [takeAll(shares, agent('a')), takeAll(shares, agent('b'))]
  expect([tokens, agents]).toEqual([
    [8, 8, 8, 8],
    [8, 8],
  ])
  expect(shares.take(token('t0'), nothing)).toBe(undefined)
  for (let place = 0; place < 16; place++) expect(shares.take(owner, nothing)).toBeDefined()
})

test('12.A6 the owner leaves an eighth to the agents', () => {
  const shares = new FairShares(64)
  expect([takeAll(shares, owner), takeAll(shares, agent('a'))]).toEqual([56, 8])
})

test('12.A6 a new caller gets a place of the one that has the most, and the owner one of a token', () => {
  const ended: string[] = []
  const shares = new FairShares(16)
  const take = (by: Principal): unknown => shares.take(by, () => ended.push(by.name))
  for (const name of ['a', 'a', 'b', 'b', 'c', 'c', 'd', 'd', 'new']) expect(take(token(name))).toBeDefined()
  expect(ended).toEqual(['a'])
  // Each has one or two now: none has to give one up for a second one.
  expect(take(token('new'))).toBe(undefined)
  for (let place = 0; place < 14; place++) expect(take(owner)).toBeDefined()
  expect(ended).toHaveLength(9)
  expect(take(owner)).toBe(undefined)
})

test('12.A6 a place is given back once, and of any sequence none is lost and none is given twice', () => {
  const callers = [owner, token('a'), token('b'), token('c'), agent('a'), agent('b')]
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(callers.length - 1), fc.boolean())),
      fc.integer({ min: 1, max: 40 }),
      (steps, max) => {
        const shares = new FairShares(max)
        const held = new Map<object, () => void>()
        for (const [at, isTaking] of steps) {
          const place = {}
          if (isTaking) {
            const leave = shares.take(callers[at] ?? owner, () => held.delete(place))
            if (leave !== undefined) held.set(place, leave)
          } else {
            const [first] = held
            first?.[1]()
            first?.[1]()
            if (first !== undefined) held.delete(first[0])
          }
          expect(held.size).toBeLessThanOrEqual(max)
        }
        for (const leave of held.values()) leave()
        expect(takeAll(shares, owner)).toBe(max - Math.floor(max / 8))
      },
    ),
  )
})
