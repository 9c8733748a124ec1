import { expect, test } from 'vitest'
import { addressReach } from '../../sandbox/src/address-reach.ts'
import { addressProblem } from '../src/notify/allowed-address.js'

const usual = { allowPrivate: false, isPlain: false, reachOf: addressReach }
const atHome = { allowPrivate: true, isPlain: false, reachOf: addressReach }

test.each(['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946', '::ffff:93.184.216.34', '64:ff9b::5db8:d822'])(
  '14.2.3 a webhook may go to %s',
  (address) => {
    expect(addressProblem(address, usual)).toBeUndefined()
    expect(addressProblem(address, { ...usual, isPlain: true })).toContain('needs https')
  },
)

test.each([
  '127.0.0.1',
  '127.9.9.9',
  '10.0.0.1',
  '172.16.3.4',
  '192.168.1.1',
  '100.64.0.1',
  '::1',
  'fd12:3456::1',
  '::ffff:127.0.0.1',
  '::127.0.0.1',
  '::ffff:10.0.0.1',
  '64:ff9b::7f00:1',
])('14.2.3 a webhook goes to %s only where the owner allows it, also without TLS', (address) => {
  expect(addressProblem(address, usual)).toContain('allowPrivate')
  expect(addressProblem(address, atHome)).toBeUndefined()
  expect(addressProblem(address, { ...atHome, isPlain: true })).toBeUndefined()
})

test.each([
  '169.254.169.254',
  '::ffff:169.254.169.254',
  '::ffff:a9fe:a9fe',
  '64:ff9b::a9fe:a9fe',
  '2002:a9fe:a9fe::1',
  '100.100.100.200',
  '168.63.129.16',
  '::ffff:168.63.129.16',
  '192.0.0.192',
  'fd00:ec2::254',
  'FD00:0EC2:0:0:0:0:0:254',
  'fd20:ce::254',
  'fe80::1',
  'fec0::1',
  'fe80::1%eth0',
  '0.0.0.0',
  '::',
  '255.255.255.255',
  '224.0.0.1',
  'ff02::1',
  '::ffff:0:127.0.0.1',
  '0177.0.0.1',
  '2130706433',
  'localhost',
  '',
])('14.2.3 a webhook never goes to %j', (address) => {
  expect(addressProblem(address, atHome)).toEqual(expect.any(String))
  expect(addressProblem(address, { ...atHome, isPlain: true })).toEqual(expect.any(String))
})
