import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { tempHome } from './temp-home.js'

const now = '2026-01-02T03:04:05.678Z'

test('AIP-46 workspaces.json: holds version, active and workspaces, to the letter', async () => {
  const { service, file, folder } = await tempHome()
  const path = await folder('Agentik Studio')
  await service.add({ path, label: 'Main monorepo' })
  expect(JSON.parse(await readFile(file, 'utf8'))).toEqual({
    version: 1,
    active: 'agentik-studio',
    workspaces: [{ slug: 'agentik-studio', path, addedAt: now, updatedAt: now, label: 'Main monorepo' }],
  })
})

test('the home is 0700 and the file 0600', async () => {
  const { service, home, file, folder } = await tempHome()
  await service.add({ path: await folder('a') })
  expect((await stat(home)).mode & 0o777).toBe(0o700)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
})

test('slugs come from the folder name and are unique', async () => {
  const { service, folder } = await tempHome()
  const slugs: string[] = []
  for (const name of ['x/Café_2', 'y/cafe 2', 'z/---', 'q/日本', 'default']) {
    slugs.push((await service.add({ path: await folder(name) })).slug)
  }
  expect(slugs).toEqual(['cafe-2', 'cafe-2-2', 'workspace', 'workspace-2', 'default-2'])
})

test('the first workspace becomes active, later ones only when asked', async () => {
  const { service, folder } = await tempHome()
  await service.add({ path: await folder('a') })
  await service.add({ path: await folder('b') })
  expect((await service.list()).active).toBe('a')
  await service.add({ path: await folder('c'), use: true })
  expect((await service.list()).active).toBe('c')
  await service.use('b')
  expect((await service.list()).active).toBe('b')
})

test('a first workspace that shall not be used is not made active', async () => {
  const { service, folder } = await tempHome()
  await service.add({ path: await folder('a'), use: false })
  expect(await service.list()).not.toHaveProperty('active')
})

test('removing the active workspace leaves none active', async () => {
  const { service, folder } = await tempHome()
  await service.add({ path: await folder('a') })
  await service.add({ path: await folder('b') })
  await service.remove('a')
  expect(await service.list()).toMatchObject({ workspaces: [{ slug: 'b' }] })
  expect(await service.list()).not.toHaveProperty('active')
})

test.each([
  ['a relative path', 'a/b', 'is not absolute'],
  ['a path that is not there', '/no/such/folder', 'does not exist'],
  ['a path with NUL', '/a\0b', 'contains the character NUL'],
])('add refuses %s', async (_, path, message) => {
  const { service } = await tempHome()
  await expect(service.add({ path })).rejects.toMatchObject({
    code: 'path_invalid',
    message: expect.stringContaining(message),
  })
})

test('add refuses a file', async () => {
  const { service, own } = await tempHome()
  await writeFile(join(own, 'file'), '')
  await expect(service.add({ path: join(own, 'file') })).rejects.toMatchObject({
    code: 'path_invalid',
    message: expect.stringContaining('not a folder'),
  })
})

test('the same folder under another name is refused, naming its workspace', async () => {
  const { service, own, folder } = await tempHome()
  const path = await folder('a')
  await service.add({ path })
  await symlink(path, join(own, 'link'))
  await expect(service.add({ path: join(own, 'link') })).rejects.toMatchObject({
    code: 'workspace_exists',
    message: expect.stringContaining('already the workspace a'),
  })
})

test('a taken slug is refused', async () => {
  const { service, folder } = await tempHome()
  await service.add({ path: await folder('a') })
  await expect(service.add({ path: await folder('b'), slug: 'a' })).rejects.toMatchObject({ code: 'workspace_exists' })
})

test.each(['', 'A', '-a', 'a b', 'a_b', '../a', 'default', 'a'.repeat(81)])('the slug %j is refused', async (slug) => {
  const { service, own } = await tempHome()
  await expect(service.add({ path: own, slug })).rejects.toMatchObject({ code: 'workspace_invalid' })
})

test('remove and use name the known workspaces', async () => {
  const { service, folder } = await tempHome()
  await service.add({ path: await folder('a') })
  for (const call of [
    () => service.remove('x'),
    () => service.use('x'),
    () => service.resolve({ workspaceSlug: 'x' }),
  ]) {
    await expect(call()).rejects.toMatchObject({
      code: 'workspace_not_found',
      message: expect.stringContaining('one of a'),
    })
  }
})

test('AIP-46 cwd of the spawn: wins, then the slug, then the active one, then the host’s folder with a warning', async () => {
  const { service, own, folder } = await tempHome()
  const [a, b, c] = [await folder('a'), await folder('b'), await folder('c')]
  expect(await service.resolve({})).toMatchObject({
    cwd: own,
    workspaceSlug: 'default',
    warnings: [expect.stringContaining(own)],
  })
  await service.add({ path: a })
  await service.add({ path: b })
  expect(await service.resolve({})).toEqual({ cwd: a, workspaceSlug: 'a', warnings: [] })
  expect(await service.resolve({ workspaceSlug: 'b' })).toEqual({ cwd: b, workspaceSlug: 'b', warnings: [] })
  expect(await service.resolve({ cwd: c })).toEqual({ cwd: c, workspaceSlug: 'default', warnings: [] })
  expect(await service.resolve({ cwd: c, workspaceSlug: 'b' })).toMatchObject({
    cwd: c,
    workspaceSlug: 'default',
    warnings: [expect.stringContaining('The workspace b was not used')],
  })
})

test('a cwd inside a workspace reports the innermost one, through links', async () => {
  const { service, own, folder } = await tempHome()
  await service.add({ path: await folder('a') })
  await service.add({ path: await folder('a/inner') })
  const deep = await folder('a/inner/deep')
  await folder('a/innermost')
  await symlink(deep, join(own, 'link'))
  expect(await service.resolve({ cwd: join(own, 'link') })).toEqual({ cwd: deep, workspaceSlug: 'inner', warnings: [] })
  expect(await service.resolve({ cwd: join(deep, '../../innermost') })).toMatchObject({ workspaceSlug: 'a' })
})

test('F93 a workspace that was added through a link is the one of its folder, however the folder is named', async () => {
  const { service, own, folder } = await tempHome()
  const real = await folder('private/project')
  const deep = await folder('private/project/packages/deep')
  const link = join(own, 'link')
  await symlink(real, link)
  expect(await service.add({ path: link, slug: 'linked' })).toMatchObject({ path: real })
  for (const cwd of [deep, join(link, 'packages/deep')]) {
    expect(await service.resolve({ cwd })).toEqual({ cwd: deep, workspaceSlug: 'linked', warnings: [] })
  }
  // A link that leads out of a workspace leads out of it.
  await symlink(await folder('other'), join(real, 'way-out'))
  expect(await service.resolve({ cwd: join(real, 'way-out') })).toMatchObject({ workspaceSlug: 'default' })
})

test('a cwd that is relative, missing, a file or closed is refused', async () => {
  const { service, own } = await tempHome()
  await writeFile(join(own, 'file'), '')
  await mkdir(join(own, 'closed'), { mode: 0o000 })
  const closed = process.getuid?.() === 0 ? [] : [join(own, 'closed')]
  for (const cwd of ['.', join(own, 'none'), join(own, 'file'), ...closed]) {
    await expect(service.resolve({ cwd })).rejects.toMatchObject({ code: 'cwd_invalid' })
  }
  await chmod(join(own, 'closed'), 0o700)
})

test('a workspace whose folder is gone says so and falls through to nothing', async () => {
  const { service, folder } = await tempHome()
  const a = await folder('a')
  await service.add({ path: a })
  await rm(a, { recursive: true })
  for (const request of [{}, { workspaceSlug: 'a' }]) {
    await expect(service.resolve(request)).rejects.toMatchObject({
      code: 'cwd_invalid',
      message: expect.stringMatching(/workspace a does not exist.*agentproto workspace remove a/),
    })
  }
})

test('an active workspace that is not registered falls through with a warning that says so', async () => {
  const { service, home, file, own } = await tempHome()
  await mkdir(home)
  await writeFile(file, JSON.stringify({ version: 1, active: 'gone', workspaces: [] }))
  expect(await service.resolve({})).toMatchObject({
    cwd: own,
    warnings: [expect.stringContaining('active workspace gone')],
  })
})

test.each([
  ['no JSON', '{"version": 1, "workspaces": ['],
  ['a newer version', '{"version": 2, "workspaces": []}'],
  ['an empty file', ''],
  ['a bad slug', '{"version": 1, "workspaces": [{"slug": "A/B", "path": "/", "addedAt": "", "updatedAt": ""}]}'],
])('a file with %s is moved aside with a warning and never overwritten', async (_, text) => {
  const { service, home, file, folder, warnings } = await tempHome()
  await mkdir(home)
  await writeFile(file, text)
  expect((await service.list()).workspaces).toEqual([])
  await service.add({ path: await folder('a') })
  const aside = (await readdir(home)).filter((name) => name.startsWith('workspaces.json.unreadable-'))
  expect(aside).toHaveLength(1)
  expect(await readFile(join(home, aside[0] ?? ''), 'utf8')).toBe(text)
  expect(warnings).toEqual([expect.stringContaining(aside[0] ?? 'none')])
})

test('keys that another version wrote survive a change', async () => {
  const { service, home, file, folder } = await tempHome()
  await mkdir(home)
  const a = { slug: 'a', path: await folder('a'), addedAt: now, updatedAt: now, trusted: true }
  await writeFile(file, JSON.stringify({ version: 1, workspaces: [a], theme: 'dark' }))
  await service.add({ path: await folder('b') })
  expect(JSON.parse(await readFile(file, 'utf8'))).toMatchObject({ theme: 'dark', workspaces: [a, { slug: 'b' }] })
})

test('a file that cannot be read or written is storage_failed, and nothing is lost', async () => {
  const { service, home, file, own } = await tempHome()
  await mkdir(file, { recursive: true })
  await expect(service.list()).rejects.toMatchObject({ code: 'storage_failed' })
  await expect(service.add({ path: own })).rejects.toMatchObject({ code: 'storage_failed' })
  expect(await readdir(home)).toEqual(['workspaces.json'])
})

test('twenty changes of one process at once all count', async () => {
  const { service, folder } = await tempHome()
  const paths = await Promise.all(Array.from({ length: 20 }, (_, index) => folder(`w${index}`)))
  await Promise.all(paths.map((path) => service.add({ path })))
  expect((await service.list()).workspaces.map((workspace) => workspace.path).toSorted()).toEqual(paths.toSorted())
})

test('a failed change does not stop the next one', async () => {
  const { service, folder } = await tempHome()
  await expect(service.remove('none')).rejects.toMatchObject({ code: 'workspace_not_found' })
  expect((await service.add({ path: await folder('a') })).slug).toBe('a')
})
