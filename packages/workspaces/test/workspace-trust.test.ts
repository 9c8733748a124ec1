import { mkdir, readFile, rename, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createWorkspaceTrust } from '@agentproto/workspaces'
import type { WorkspaceTrust } from '@agentproto/workspaces'
import { expect, test } from 'vitest'
import { tempHome } from './temp-home.js'
import type { TempHome } from './temp-home.js'

const now = '2026-01-02T03:04:05.678Z'

async function tempTrust(): Promise<TempHome & { trust: WorkspaceTrust; trusted: string; said: string[] }> {
  const temp = await tempHome()
  const said: string[] = []
  const clock = { now: () => Date.parse(now), after: () => ({ cancel: () => undefined }) }
  const trust = createWorkspaceTrust({ home: temp.home, clock, onWarning: (message) => said.push(message) })
  return { ...temp, trust, trusted: join(temp.home, 'trusted.json'), said }
}

test('nothing is trusted until the owner says so', async () => {
  const { trust, folder } = await tempTrust()
  expect(await trust.list()).toEqual([])
  const path = await folder('a')
  expect(await trust.trust(path)).toEqual({ path, trustedAt: now })
  expect(await trust.list()).toEqual([{ path, trustedAt: now }])
})

test('trust is kept beside the workspaces, in a file for the owner alone; workspaces.json stays as AIP-46 has it', async () => {
  const { trust, trusted, service, file, folder } = await tempTrust()
  const path = await folder('a')
  await service.add({ path })
  const before = await readFile(file, 'utf8')
  await trust.trust(path)
  expect(await readFile(file, 'utf8')).toBe(before)
  expect(JSON.parse(await readFile(trusted, 'utf8'))).toEqual({ version: 1, trusted: [{ path, trustedAt: now }] })
  expect((await stat(trusted)).mode & 0o777).toBe(0o600)
})

test('trusting twice changes nothing; trust is taken back, also from a folder that is gone', async () => {
  const { trust, folder } = await tempTrust()
  const [a, b] = [await folder('a'), await folder('b')]
  await Promise.all([trust.trust(a), trust.trust(b), trust.trust(a)])
  expect((await trust.list()).map(({ path }) => path).toSorted()).toEqual([a, b])
  await rm(a, { recursive: true })
  expect(await trust.distrust(a)).toBe(true)
  expect(await trust.distrust(a)).toBe(false)
  expect((await trust.list()).map(({ path }) => path)).toEqual([b])
})

test('trust is in the real folder: a link that is turned elsewhere is not trusted', async () => {
  const { trust, own, folder } = await tempTrust()
  const [a, b] = [await folder('a'), await folder('b')]
  const link = join(own, 'link')
  await symlink(a, link)
  await trust.trust(link)
  await symlink(b, `${link}.new`)
  await rename(`${link}.new`, link)
  expect((await trust.list()).map(({ path }) => path)).toEqual([a])
  expect(await trust.distrust(link)).toBe(false)
})

test.each([
  ['a relative path', 'a'],
  ['a folder that is not there', '/no/such/folder'],
])('%s cannot be trusted', async (_, path) => {
  const { trust } = await tempTrust()
  await expect(trust.trust(path)).rejects.toMatchObject({ code: 'path_invalid' })
})

test.each(['no JSON', '{"version":2,"trusted":[]}', '{"version":1,"trusted":[{"path":1}]}'])(
  'a file that cannot be read trusts nothing, and is moved aside by the next change: %s',
  async (text) => {
    const { home, trust, trusted, said, folder } = await tempTrust()
    await mkdir(home, { recursive: true })
    await writeFile(trusted, text)
    expect(await trust.list()).toEqual([])
    expect(await readFile(trusted, 'utf8')).toBe(text)
    await trust.trust(await folder('a'))
    expect(await trust.list()).toHaveLength(1)
    expect(said).toEqual([expect.stringContaining('cannot be read'), expect.stringContaining('moved to')])
    expect(await readFile(`${trusted}.unreadable-2026-01-02T03-04-05-678Z`, 'utf8')).toBe(text)
  },
)
