import { networkInterfaces } from 'node:os'
import { expect, test } from 'vitest'
import { addressReach } from '@agentproto/sandbox'

test.each([
  '127.0.0.1',
  '127.255.0.9',
  '10.0.0.1',
  '172.16.5.4',
  '192.168.1.1',
  '100.64.0.1',
  '::1',
  'fc00::1',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:10.0.0.1',
  '::ffff:0a00:0001',
  '64:ff9b::127.0.0.1',
  '64:ff9b::10.1.2.3',
])('%s is on this machine or in a private network', (address) => {
  expect(addressReach(address)).toBe('private')
})

test('no address of this machine is public', () => {
  const own = Object.values(networkInterfaces()).flatMap((each) => (each ?? []).map(({ address }) => address))
  expect(own.map(addressReach)).not.toContain('public')
})

test.each([
  '100.100.100.200',
  '::ffff:100.100.100.200',
  '64:ff9b::6464:64c8',
  '168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'FD00:0EC2:0:0:0:0:0:254',
  'fd20:ce::254',
])('%s is where a cloud serves credentials', (address) => {
  expect(addressReach(address)).toBe('credentials')
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
  '0.0.0.0',
  '169.254.1.1',
  '169.254.169.254',
  '::ffff:169.254.169.254',
  '64:ff9b::a9fe:a9fe',
  '::',
  'fe80::1',
  'fe80::1%eth0',
  'fec0::1',
  '2002:7f00:1::',
  '::ffff:0:127.0.0.1',
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
