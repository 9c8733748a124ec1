import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readHomeRecord } from '../../src/home/home-record.js'
import { HOME_FORMAT } from '../../src/home/home-steps.js'
import { lockBriefly, openHome, prepareHome } from '../../src/home/open-home.js'
import { temporaryFolder } from '../fixtures/temporary-folder.js'

test('16 a home is created with the format of this agentproto, and a home without one gets it', async () => {
  const fresh = join(await temporaryFolder(), 'a', 'home')
  const lock = await openHome(fresh)
  expect(readHomeRecord(fresh)).toMatchObject({
    format: HOME_FORMAT,
    writtenBy: { version: expect.any(String) as string },
  })
  await expect(openHome(fresh)).rejects.toMatchObject({ code: 'daemon_running' })
  lock.release()
  const old = await temporaryFolder()
  writeFileSync(join(old, 'workspaces.json'), '{"version":1,"workspaces":[]}')
  ;(await openHome(old)).release()
  expect(readHomeRecord(old)).toMatchObject({ format: HOME_FORMAT, upgrades: [{ from: 0, to: 1 }] })
})

test('16 a gateway waits for a command that has the home for a moment, and takes its place', async () => {
  const root = await temporaryFolder()
  const brief = await lockBriefly(root)
  const opening = openHome(root)
  brief.release()
  const lock = await opening
  expect(JSON.parse(readFileSync(join(root, 'daemon.lock'), 'utf8'))).toMatchObject({ pid: process.pid })
  lock.release()
})

test('16 many commands at once prepare a home, and none is refused', async () => {
  const root = join(await temporaryFolder(), 'home')
  await Promise.all([1, 2, 3, 4, 5, 6].map(() => prepareHome(root, { create: true })))
  expect(readdirSync(root)).toEqual(['home.json'])
})

test('16 a command that only reads creates no home, and brings an older one up to date', async () => {
  const parent = await temporaryFolder()
  await prepareHome(join(parent, 'none'))
  expect(readdirSync(parent)).toEqual([])
  writeFileSync(join(parent, 'workspaces.json'), '{}')
  await prepareHome(parent)
  expect(readHomeRecord(parent)?.format).toBe(HOME_FORMAT)
  // Beside the gateway of the same agentproto, nothing is left to do.
  const lock = await openHome(parent)
  await prepareHome(parent, { create: true })
  lock.release()
})

test('16 a home that a gateway of an older agentproto serves is not changed under it', async () => {
  const root = await temporaryFolder()
  const lock = await openHome(root)
  // What an older one leaves: a lock, and no format.
  rmSync(join(root, 'home.json'))
  let now = 0
  const clock = {
    now: () => now,
    after(ms: number, run: () => void) {
      now += ms
      setImmediate(run)
      return { cancel: () => undefined }
    },
  }
  await expect(prepareHome(root, { clock })).rejects.toMatchObject({
    code: 'daemon_running',
    message: expect.stringMatching(/older agentproto.*Restart the gateway/s) as string,
  })
  expect(readHomeRecord(root)).toBeUndefined()
  lock.release()
})
