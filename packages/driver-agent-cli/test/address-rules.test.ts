import { networkInterfaces } from 'node:os'
import { addressReach } from '@agentproto/sandbox'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Earlier, endpointRule, STRICTER, webhookRule } from '../../sandbox/test/fixtures/earlier-address-rules.ts'

/** Near the edges of the special ranges, and anywhere. */
const EDGES = [
  '0.0.0.0',
  '9.255.255.255',
  '10.0.0.0',
  '100.63.255.255',
  '100.64.0.0',
  '100.100.100.200',
  '100.127.255.255',
  '126.255.255.255',
  '127.0.0.0',
  '128.0.0.0',
  '168.63.129.16',
  '169.253.255.255',
  '169.254.0.0',
  '169.254.169.254',
  '172.15.255.255',
  '172.16.0.0',
  '172.32.0.0',
  '192.0.0.192',
  '192.0.2.0',
  '192.88.99.1',
  '192.168.0.0',
  '198.18.0.0',
  '203.0.113.9',
  '224.0.0.0',
  '240.0.0.0',
]
const ipv4 = fc.oneof(fc.ipV4(), fc.constantFrom(...EDGES))
const PREFIXES = ['::ffff:', '::', '::ffff:0:', '64:ff9b::', '64:ff9b:1::', '2002:']
const embedded = fc.tuple(fc.constantFrom(...PREFIXES), ipv4).map(([prefix, address]) => `${prefix}${address}`)
const HEADS = [
  'fe80',
  'fec0',
  'fc00',
  'fd00:ec2',
  'fd20:ce',
  'ff02',
  '2001:db8',
  '2001',
  '2002:a9fe:a9fe',
  '2000',
  '3fff',
  '4000',
  '100',
]
const ipv6 = fc.oneof(
  fc.ipV6(),
  fc.tuple(fc.constantFrom(...HEADS), fc.constantFrom('1', '254', 'a9fe:a9fe')).map(([head, end]) => `${head}::${end}`),
)
const own = Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address))
const text = fc.oneof(
  ipv4,
  embedded,
  ipv6,
  fc.constantFrom(...own, '', 'localhost', '0177.0.0.1', '2130706433', '127.1'),
  fc.string(),
)

const stricter = (one: Earlier, other: Earlier): Earlier =>
  STRICTER[Math.max(STRICTER.indexOf(one), STRICTER.indexOf(other))] ?? 'never'

const NOW = { public: 'public', private: 'private', credentials: 'never', none: 'never' } as const

test('the rule for addresses is what both earlier rules were where they agreed, else the stricter one', () => {
  fc.assert(
    fc.property(text, (address) => {
      expect(NOW[addressReach(address)]).toBe(stricter(webhookRule(address), endpointRule(address)))
    }),
    { numRuns: 5_000 },
  )
})
