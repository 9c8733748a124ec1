import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { addressReach } from '@agentproto/sandbox'

test.each([
  '127.0.0.1',
  '127.255.0.9',
  '0.0.0.0',
  '10.0.0.1',
  '172.16.5.4',
  '192.168.1.1',
  '100.64.0.1',
  '169.254.1.1',
  '169.254.169.254',
  '100.100.100.200',
  '::1',
  '::',
  'fe80::1',
  'fe80::1%eth0',
  'fd00:ec2::254',
  'fc00::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:10.0.0.1',
  '::ffff:0a00:0001',
  '::ffff:169.254.169.254',
  '64:ff9b::127.0.0.1',
  '64:ff9b::10.1.2.3',
  '2002:7f00:1::',
])('%s is on this machine or in a private network', (address) => {
  expect(addressReach(address)).toBe('private')
})

test('each address of this machine is private', () => {
  const own = Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address))
  expect(own.map(addressReach)).toEqual(own.map(() => 'private'))
})

test.each(['93.184.215.14', '2606:2800:21f:cb07::1', '::ffff:93.184.215.14', '64:ff9b::93.184.215.14'])(
  '%s is reached over public networks',
  (address) => {
    expect(addressReach(address)).toBe('public')
  },
)

test.each([
  '2130706433',
  '0x7f.1',
  '0177.0.0.1',
  '127.1',
  'localhost',
  '',
  '224.0.0.1',
  '255.255.255.255',
  '240.0.0.1',
  '192.0.2.1',
  'ff02::1',
  '2001:db8::1',
  '2002:0a00:1::1',
  '2001:0:1::1',
  '::198.51.100.7',
  '4000::1',
])('%s is no address of a server', (address) => {
  expect(addressReach(address)).toBe('none')
})
