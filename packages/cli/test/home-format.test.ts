import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { asList, asRecord } from '@agentproto/contracts'
import { identify } from '@agentproto/subprocess'
import { expect, test } from 'vitest'
import { folder } from './cli-process.js'
import { runHere } from './run-here.js'

/** A home as a newer agentproto could leave it. */
function newerHome(): string {
  const home = folder()
  const writtenBy = { version: '42.0.0', build: 'f00d' }
  writeFileSync(
    join(home, 'home.json'),
    JSON.stringify({ format: 99, writtenBy, writtenAt: '2030-01-01T00:00:00.000Z' }),
  )
  writeFileSync(join(home, 'workspaces.json'), '{"version":7}')
  return home
}

test.each([
  'status',
  'sessions',
  'sessions list --json',
  'sessions show try',
  'run demo --prompt hello',
  'serve --port 0',
  'workspace list',
  'workspace add .',
  'secrets list',
  'config list',
  'config set log.level debug',
  'adapters list',
  'token list',
  'token create --name ci --scope read',
  'requests',
  'usage',
  'stop',
])('16 a home of a newer agentproto is refused by name: %s', async (line) => {
  const home = newerHome()
  const { code, stdout, stderr } = await runHere(line.split(' '), { home })
  expect(stderr).toMatch(/written by agentproto 42\.0\.0 \(f00d\), in format 99/)
  expect(stderr).toContain('AGENTPROTO_HOME')
  expect([code, stdout]).toEqual([1, ''])
  expect(readdirSync(home).sort()).toEqual(['home.json', 'workspaces.json'])
  expect(readFileSync(join(home, 'workspaces.json'), 'utf8')).toBe('{"version":7}')
})

test('16 doctor reports a home of a newer agentproto, and nothing else of it', async () => {
  const home = newerHome()
  const { code, stdout } = await runHere(['doctor', '--json'], { home })
  const checks = asList(asRecord(JSON.parse(stdout))['checks']).map(asRecord)
  expect(code).toBe(1)
  expect(checks.find(({ id }) => id === 'format')).toMatchObject({
    title: 'home format',
    verdict: 'fail',
    detail: expect.stringMatching(/42\.0\.0 \(f00d\), in format 99.*knows/s) as string,
  })
  expect(checks.filter(({ id }) => id === 'config' || id === 'leftovers' || id === 'sizes')).toEqual([])
  expect(readdirSync(home).sort()).toEqual(['home.json', 'workspaces.json'])
})

test('16 doctor shows the format of a home, its last upgrade and the size of its backups, and changes nothing', async () => {
  const home = folder()
  const format = async (): Promise<unknown> => {
    const { stdout } = await runHere(['doctor', '--json'], { home })
    return asList(asRecord(JSON.parse(stdout))['checks'])
      .map(asRecord)
      .find(({ id }) => id === 'format')?.['detail']
  }
  writeFileSync(join(home, 'workspaces.json'), '{"version":1,"workspaces":[]}')
  expect(await format()).toBe('0 of 1: the next start of the gateway brings it up to date; no backups')
  expect(readdirSync(home)).toEqual(['workspaces.json'])
  expect((await runHere(['workspace', 'list'], { home })).code).toBe(0)
  expect(await format()).toMatch(/^1, written by agentproto [\d.]+, upgraded from 0 at 20\S+Z; no backups$/)
})

test('16 stop does not take a command that has the home for a moment for its gateway', async () => {
  const home = folder()
  writeFileSync(join(home, 'daemon.lock'), JSON.stringify({ ...identify(process.pid), isBrief: true }))
  const { code, stderr } = await runHere(['stop'], { home })
  expect([code, stderr]).toEqual([0, 'No gateway was running.\n'])
})

test('16 the first file that a command writes into a new home has a format beside it', async () => {
  const home = join(folder(), 'home')
  await runHere(['config', 'set', 'log.level', 'debug'], { home, cwd: folder() })
  expect(asRecord(JSON.parse(readFileSync(join(home, 'home.json'), 'utf8')))['format']).toBe(1)
})
