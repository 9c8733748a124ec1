import { expect, test } from 'vitest'
import { hostname, networkInterfaces } from 'node:os'
import { isListed, mayConnect } from '../src/egress-list.js'
import { isOwnAddress } from '../src/own-host.js'

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

test('12.A8 the machine’s own addresses and those of cloud credentials are recognised, in every way to write them', () => {
  const interfaces = Object.values(networkInterfaces()).flatMap((each) => each ?? [])
  const ipv4 = ['127.0.0.1', '127.9.9.9', '0.0.0.0', '0.1.2.3', '169.254.169.254', '100.100.100.200', '168.63.129.16']
  ipv4.push(...interfaces.flatMap(({ family, address }) => (family === 'IPv4' ? [address] : [])))
  const embedded = ipv4.flatMap((each) =>
    ['::ffff:', '::', '::ffff:0:', '64:ff9b::', '64:ff9b:1::'].map((prefix) => prefix + each),
  )
  const ipv6 = ['::1', '::', 'fe80::1', 'fe80::1%lo', 'fec0::1', 'fd00:ec2::254', '2002:7f00:1::', '2002:a9fe:a9fe::1']
  ipv6.push('::ffff:7f00:1', ...interfaces.flatMap(({ family, address }) => (family === 'IPv6' ? [address] : [])))
  expect([...ipv4, ...embedded, ...ipv6, 'no address', ''].filter((address) => !isOwnAddress(address))).toEqual([])
  const others = ['203.0.113.7', '93.184.216.34', '2606:2800:220:1::1', '64:ff9b::5db8:d822', '2002:5db8:d822::1']
  expect(others.filter(isOwnAddress)).toEqual([])
})

const machine = hostname().toLowerCase()

test.each([
  ['a name that leads to this machine', ['*.example.com', 'example.com'], 'a.example.com', '127.0.0.1', false],
  ['that leads to it in IPv6', ['example.com'], 'example.com', '::ffff:169.254.169.254', false],
  ['a name of the gateway, which leads elsewhere', ['*.example.com'], 'gateway.example.com', '203.0.113.7', false],
  ['written in another way', ['*.example.com'], 'GATEWAY.example.com.', '203.0.113.7', false],
  ['that is listed itself', ['gateway.example.com'], 'gateway.example.com', '203.0.113.7', true],
  ['the name of the machine that is listed itself', [machine], machine, '127.0.1.1', true],
  ['an address of the machine that is listed itself', ['127.0.0.1'], '127.0.0.1', '127.0.0.1', true],
  ['localhost', ['localhost'], 'localhost', '::1', true],
  ['any other name', ['*.example.com'], 'a.example.com', '203.0.113.7', true],
])('12.A8 %s: %s lets %s at %s through: %s', (_case, list, host, address, expected) => {
  const ownNames = ['Gateway.Example.com:8443']
  expect(mayConnect(list, { host, port: 443 }, { address, ownNames })).toBe(expected)
})
