import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { executableNames, shimTarget } from '../src/windows-shim.js'

// Shims as npm and pnpm write them. What they are for was not tried on Windows itself.
const text = (name: string): string =>
  readFileSync(new URL(`fixtures/shims/${name}.cmd`, import.meta.url), 'utf8').replace(/\r?\n/g, '\r\n')
const target = (name: string): unknown => shimTarget(String.raw`C:\Users\A B\npm\agent.cmd`, text(name))

test('F89 a shim of npm or pnpm gives the script that it starts under Node, with spaces in its path', () => {
  const npm = String.raw`C:\Users\A B\small agent\bin\agent.js`
  const pnpm = String.raw`C:\Users\A B\small-agent\bin\agent`
  expect(target('npm-script')).toEqual({ runtime: 'node', file: npm })
  expect(target('pnpm-script')).toEqual({ runtime: 'node', file: pnpm })
})

test('F89 a shim of a native program gives the program', () => {
  const file = String.raw`C:\Users\A B\small-agent\bin\agent.exe`
  expect(target('npm-native')).toEqual({ runtime: 'native', file })
})

test('F89 a batch file, and a shim for another runtime, are not read as a shim', () => {
  expect(target('batch')).toBeUndefined()
  expect(target('npm-python')).toBeUndefined()
})

test('F89 PATHEXT is applied to names without an extension, on Windows alone', () => {
  expect(executableNames('agent', 'win32', '.COM;.EXE;.CMD;;X')).toEqual(['agent.com', 'agent.exe', 'agent.cmd'])
  expect(executableNames('agent.exe', 'win32')).toEqual(['agent.exe'])
  expect(executableNames('agent', 'linux', '.EXE')).toEqual(['agent'])
})
