import { expect, test } from 'vitest'
import { cli, folder, serve } from './cli-process.js'

test('token create prints a working token once; list, rotate and revoke', async () => {
  const home = folder()
  const made = await cli(['token', 'create', '--name', 'ci', '--scope', 'read'], { home })
  const first = made.stdout.trim()
  expect([made.code, first]).toEqual([0, expect.stringMatching(/^agp_t_[0-9a-f]{16}_[\w-]{43}$/)])

  const { url } = await serve(home)
  const as = (token: string, ...args: string[]) =>
    cli(args, { home: folder(), env: { AGENTPROTO_URL: url, AGENTPROTO_TOKEN: token } })
  expect(await as(first, 'sessions', '--json')).toMatchObject({ code: 0 })
  expect(await as(first, 'sessions', 'start', 'demo')).toMatchObject({
    code: 5,
    stderr: expect.stringContaining('the scope operate'),
  })

  const rotated = JSON.parse((await cli(['token', 'rotate', 'ci', '--json'], { home })).stdout)
  expect(rotated).toMatchObject({ name: 'ci', scope: 'read', token: expect.stringMatching(/^agp_t_/) })
  expect(await as(first, 'sessions')).toMatchObject({ code: 5 })
  const list = await cli(['token', 'list'], { home })
  expect(list.stdout).toMatch(/ci +read +all/)
  expect(list.stdout).not.toContain('agp_t_')
  expect(await cli(['token', 'revoke', 'ci'], { home })).toMatchObject({ code: 0, stderr: 'ci is revoked.\n' })
  expect(await as(rotated.token, 'sessions')).toMatchObject({ code: 5 })
  expect(JSON.parse((await cli(['token', 'list', '--json'], { home })).stdout)).toEqual({ tokens: [] })
})

test('a token of a workspace sees and starts only sessions of it', async () => {
  const home = folder()
  const [shop, other] = [folder('shop'), folder('other')]
  await cli(['workspace', 'add', shop, '--slug', 'shop'], { home })
  const { url } = await serve(home)
  const { stdout } = await cli(['token', 'create', '--name', 't', '--scope', 'operate', '--workspace', 'shop'], {
    home,
  })
  const env = { AGENTPROTO_URL: url, AGENTPROTO_TOKEN: stdout.trim() }
  const mine = await cli(['sessions', 'start', 'demo', '--cwd', shop], { home: other, env })
  expect(mine).toMatchObject({ code: 0 })
  expect(await cli(['sessions', 'start', 'demo', '--cwd', other], { home: other, env })).toMatchObject({ code: 5 })
  const owners = await cli(['sessions', 'start', 'demo', '--cwd', other], { home })
  const ids = async (more: object): Promise<string[]> => {
    const { sessions } = JSON.parse((await cli(['sessions', '--json'], { home, ...more })).stdout)
    return sessions.map(({ id }: { id: string }) => id).toSorted()
  }
  expect(await ids({ env })).toEqual([mine.stdout.trim()])
  expect(await ids({})).toEqual([mine.stdout.trim(), owners.stdout.trim()].toSorted())
  expect(await cli(['sessions', 'kill', owners.stdout.trim()], { home, env })).toMatchObject({ code: 4 })
})

test('12.A8 token create names the known workspaces, list the creator and what is lost, revoke what else ended', async () => {
  const home = folder()
  await cli(['workspace', 'add', folder('shop'), '--slug', 'shop'], { home })
  const create = (name: string, ...args: string[]) => cli(['token', 'create', '--name', name, ...args], { home })
  expect(await create('ci', '--scope', 'read', '--workspace', 'nope')).toMatchObject({
    code: 2,
    stdout: '',
    stderr: expect.stringContaining('Expected one of shop.'),
  })
  await create('ci', '--scope', 'read', '--workspace', 'shop')
  const { url } = await serve(home)
  const maker = (await create('maker', '--scope', 'admin')).stdout.trim()
  const env = { AGENTPROTO_URL: url, AGENTPROTO_TOKEN: maker }
  for (const name of ['made', 'kept']) {
    const made = await cli(['token', 'create', '--name', name, '--scope', 'admin'], { home: folder(), env })
    expect(made.code).toBe(0)
  }
  await cli(['workspace', 'remove', 'shop'], { home })
  await cli(['workspace', 'add', folder('bank'), '--slug', 'shop'], { home })
  const list = (await cli(['token', 'list'], { home })).stdout
  expect(list).toMatch(/ci +read +shop \(lost\) +owner/)
  expect(list).toMatch(/made +admin +all +maker/)
  expect(await cli(['token', 'rotate', 'maker', '--keep-created', '--json'], { home })).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/"kept": \[\s*"made",\s*"kept"\s*\]/),
  })
  expect((await cli(['token', 'revoke', 'maker'], { home })).stderr).toBe(
    'maker is revoked. Also revoked, because it had created them: made, kept.\n',
  )
})
