import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal } from '@agentproto/contracts'
import { catalogPath } from '@agentproto/adapters'
import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

const owner: Principal = { type: 'owner', name: 'owner' }

test('12.C7 the gateway keeps an adapter that a session runs, and uses the bundled one after its removal', async () => {
  const home = await temporaryHome()
  await mkdir(join(home, 'adapters'), { recursive: true })
  await cp(join(catalogPath, 'demo'), join(home, 'adapters/demo'), { recursive: true })
  const { sessions, adapters } = await testGateway({ home })
  const { id } = await sessions.spawn({ adapter: 'demo', cwd: home }, owner)
  await expect(adapters.remove('demo', owner)).rejects.toMatchObject({ code: 'session_live' })
  expect((await adapters.get('demo')).source).toBe('user')
  await sessions.kill(id, owner)
  expect(await adapters.remove('demo', owner)).toEqual({ ok: true, slug: 'demo', agentRemoved: false })
  expect((await adapters.get('demo')).source).toBe('bundled')
  await expect(adapters.remove('demo', owner)).rejects.toMatchObject({ code: 'adapter_not_found' })
})
