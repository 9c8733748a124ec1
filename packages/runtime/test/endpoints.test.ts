import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Principal } from '@agentproto/contracts'
import { manifestTemplate } from '@agentproto/manifest'
import { expect, test } from 'vitest'
import { startRemoteAgent } from '../../arms/acp/test/fixtures/remote-agent.ts'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

const owner: Principal = { type: 'owner', name: 'owner' }
const admin: Principal = { type: 'token', name: 'ci', scope: 'admin' }

async function put(at: string, url: string): Promise<string> {
  const folder = join(at, 'build')
  await mkdir(folder, { recursive: true })
  for (const [name, text] of manifestTemplate({ id: 'build', protocol: 'acp', endpoint: { url } }))
    await writeFile(join(folder, name), text)
  return folder
}

test('no caller of the gateway adds an agent that runs elsewhere, and config.json says at once which it may reach', async () => {
  const home = await temporaryHome()
  const agent = await startRemoteAgent()
  const { sessions, adapters } = await testGateway({ home })
  const folder = await put(join(home, 'mine'), agent.url)
  for (const by of [admin, owner])
    await expect(adapters.add(folder, by)).rejects.toMatchObject({ code: 'manifest_invalid' })

  await put(join(home, 'adapters'), agent.url)
  const start = () => sessions.spawn({ adapter: 'build', cwd: home }, owner)
  await expect(start()).rejects.toMatchObject({ code: 'endpoint_not_allowed' })
  const consent = (places: readonly string[]) =>
    writeFile(join(home, 'config.json'), JSON.stringify({ endpoints: { private: places } }))
  await consent([new URL(agent.url).host])
  const { id, sandbox } = await start()
  expect(sandbox).toMatchObject({ enforced: false, reason: expect.stringContaining('runs elsewhere') })
  await sessions.kill(id, owner)
  await consent([])
  await expect(start()).rejects.toMatchObject({ code: 'endpoint_not_allowed' })
  expect(agent.upgrades).toHaveLength(1)
})
