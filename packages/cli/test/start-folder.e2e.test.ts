import { mkdirSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Session } from '@agentproto/contracts'
import { expect, test } from 'vitest'
import { folder, serve } from './cli-process.js'
import { runHere } from './run-here.js'

interface Started {
  readonly session: Session
  readonly stderr: string
}

async function workspaces() {
  const home = folder()
  const [shop, other, outside] = [join(home, 'shop'), join(home, 'other'), join(home, 'outside')]
  for (const path of [join(shop, 'src'), other, outside]) mkdirSync(path, { recursive: true })
  const { url } = await serve(home)
  const run = (cwd: string, ...args: readonly string[]) => runHere(args, { home, cwd })
  async function start(cwd: string, ...args: readonly string[]): Promise<Started> {
    const { code, stdout, stderr } = await run(cwd, 'sessions', 'start', 'demo', '--json', ...args)
    expect({ code, stderr }).toMatchObject({ code: 0 })
    return { session: JSON.parse(stdout) as Session, stderr }
  }
  return { home, url, shop, other, outside, run, start }
}

test('14.3.1 a session starts in the folder of the user, when a workspace contains it, and says so on stderr', async () => {
  const { home, shop, other, run, start } = await workspaces()
  await run(home, 'workspace', 'add', shop)
  await run(home, 'workspace', 'add', other, '--use')
  const inside = await start(join(shop, 'src'))
  expect(inside.session).toMatchObject({ cwd: join(shop, 'src'), workspaceSlug: 'shop' })
  expect(inside.stderr).toBe(`agentproto: it runs in ${join(shop, 'src')} (shop)\n`)
  symlinkSync(join(shop, 'src'), join(home, 'link'))
  expect((await start(join(home, 'link'))).session).toMatchObject({ cwd: join(shop, 'src'), workspaceSlug: 'shop' })
  const named = await start(join(shop, 'src'), '--workspace', 'other')
  expect(named).toMatchObject({ session: { cwd: other }, stderr: '' })
  expect((await start(other, '--cwd', shop)).session).toMatchObject({ cwd: shop, workspaceSlug: 'shop' })
})

test('14.3.1 outside of every workspace it starts in the active one, and says so', async () => {
  const { home, shop, outside, run, start } = await workspaces()
  await run(home, 'workspace', 'add', shop, '--use')
  const { session, stderr } = await start(outside)
  expect(session).toMatchObject({ cwd: shop, workspaceSlug: 'shop' })
  expect(stderr).toBe(`agentproto: it runs in ${shop}, the active workspace (shop)\n`)
})

test('14.3.1 outside of every workspace, and without an active one, it starts in the folder of the user', async () => {
  const { outside, start } = await workspaces()
  const { session, stderr } = await start(outside)
  expect(session.cwd).toBe(outside)
  expect(stderr).toContain(`it runs in ${outside}. To add one: agentproto workspace add . --use`)
})
