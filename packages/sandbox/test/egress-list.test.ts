import { expect, test } from 'vitest'
import { isListed, isThisHost } from '../src/egress-list.js'

test.each([
  ['example.com', 'example.com', 443, true],
  ['example.com', 'EXAMPLE.com.', 80, true],
  ['example.com', 'a.example.com', 443, false],
  ['example.com', 'notexample.com', 443, false],
  ['*.example.com', 'a.b.example.com', 443, true],
  ['*.example.com', 'example.com', 443, false],
  ['*.example.com', 'notexample.com', 443, false],
  ['*.0.0.1', '127.0.0.1', 443, false],
  ['example.com:8443', 'example.com', 8443, true],
  ['example.com:8443', 'example.com', 443, false],
])('%s lets %s:%i through: %s', (entry, host, port, listed) => {
  expect(isListed([entry], { host, port })).toBe(listed)
})

test('addresses of this machine and of cloud credentials are recognised', () => {
  const own = ['127.0.0.1', '127.9.9.9', '::1', '::', '0.0.0.0', '169.254.169.254', 'fe80::1', '::ffff:127.0.0.1']
  expect(own.filter((address) => !isThisHost(address))).toEqual([])
  expect(['10.0.0.1', '192.168.1.1', '93.184.216.34', '2606:2800:220:1::1'].filter(isThisHost)).toEqual([])
})
