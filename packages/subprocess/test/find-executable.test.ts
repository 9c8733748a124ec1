import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { commandFor, findExecutable, healPath } from '@agentproto/subprocess'
import { beforeAll, afterAll, expect, test } from 'vitest'

let root = ''
const put = (path: string, mode = 0o755): string => {
  const file = join(root, path)
  mkdirSync(dirname(file), { recursive: true })
  writeFileSync(file, '')
  chmodSync(file, mode)
  return file
}
beforeAll(() => void (root = mkdtempSync(join(tmpdir(), 'find-'))))
afterAll(() => rmSync(root, { recursive: true, force: true }))

test('the host’s executables come first, then its folders, then PATH', async () => {
  const [named, inDir, onPath] = [put('named.mjs', 0o644), put('dir/agent'), put('path/agent')]
  const path = dirname(onPath)
  expect(await findExecutable('agent', { executables: { agent: named }, dirs: [dirname(inDir)], path })).toBe(named)
  expect(await findExecutable('agent', { dirs: [dirname(inDir)], path })).toBe(inDir)
  expect(await findExecutable('agent', { path })).toBe(onPath)
})

test('only an executable file is found', async () => {
  const path = dirname(put('plain/agent', 0o644))
  mkdirSync(join(root, 'plain/folder'))
  for (const name of ['agent', 'folder', 'absent', '', '../plain/agent', 'a\0b', 'constructor']) {
    expect(await findExecutable(name, { path, executables: {} })).toBeUndefined()
  }
  expect(await findExecutable('agent', { executables: { agent: '/no/such' }, path: '/bin' })).toBeUndefined()
})

test('F28 the PATH of a service manager is completed with the folder of Node and the usual folders of tools', async () => {
  const home = join(root, 'home')
  const tool = put('home/.local/bin/tool')
  expect(await findExecutable('tool', { path: '/usr/sbin', home })).toBe(tool)
  const healed = healPath('/usr/sbin:/usr/bin', home).split(':')
  expect(healed.slice(0, 3)).toEqual(
    [
      '/usr/sbin',
      '/usr/bin',
      ...new Set([dirname(process.execPath)].filter((dir) => dir !== '/usr/bin')),
      join(home, '.local/bin'),
    ].slice(0, 3),
  )
  expect(healed).toEqual([...new Set(healed)])
})

test('a Node script is run under this Node', () => {
  expect(commandFor('/x/agent.mjs')).toEqual({ command: process.execPath, args: ['/x/agent.mjs'] })
  expect(commandFor('/x/agent')).toEqual({ command: '/x/agent', args: [] })
})
