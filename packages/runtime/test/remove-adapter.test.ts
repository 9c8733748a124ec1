import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal } from '@agentproto/contracts'
import { catalogPath } from '@agentproto/adapters'
import { manifestTemplate } from '@agentproto/manifest'
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

test('a removal by the gateway names the consents that no adapter needs any more, and leaves them to their owner', async () => {
  const home = await temporaryHome()
  for (const [slug, url] of [
    ['build', 'ws://127.0.0.1:9001/acp/build'],
    ['twin', 'ws://127.0.0.1:9001/acp/twin'],
  ] as const) {
    const folder = join(home, 'adapters', slug)
    await mkdir(folder, { recursive: true })
    for (const [name, text] of manifestTemplate({ id: slug, protocol: 'acp', endpoint: { url } }))
      await writeFile(join(folder, name), text)
  }
  const config = JSON.stringify({ endpoints: { private: ['127.1:9001', 'nas.example:8080'] } })
  await writeFile(join(home, 'config.json'), config)
  const { adapters } = await testGateway({ home })
  expect(await adapters.remove('twin', owner)).toMatchObject({ consentsLeft: [] })
  expect(await adapters.remove('build', owner)).toMatchObject({ consentsLeft: ['127.1:9001'] })
  expect(await readFile(join(home, 'config.json'), 'utf8')).toBe(config)
})
