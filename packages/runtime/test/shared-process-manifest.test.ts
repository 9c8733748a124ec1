import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { catalogPath } from '@agentproto/adapters'
import type { Principal } from '@agentproto/contracts'
import { checkManifestFiles } from '@agentproto/manifest/node'
import { expect, test } from 'vitest'
import { temporaryHome, testGateway } from './fixtures/temporary-home.js'

const owner: Principal = { type: 'owner', name: 'owner' }

/** The example of docs/adapters.md as an adapter. Returns the folder that contains it. */
async function documented(parent: string): Promise<string> {
  const page = await readFile(new URL('../../../docs/adapters.md', import.meta.url), 'utf8')
  const [, manifest = ''] = /## Several sessions in one process\n[\s\S]*?```yaml\n(---\n[\s\S]*?)```/.exec(page) ?? []
  const folder = join(parent, 'documented/demo-shared')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'AGENT-CLI.md'), manifest)
  await cp(join(catalogPath, 'demo/ACP.md'), join(folder, 'ACP.md'))
  return join(parent, 'documented')
}

test('12.B6 two sessions of the documented manifest have one pid, and two of another adapter have two', async () => {
  const home = await temporaryHome()
  const folder = await documented(home)
  expect((await checkManifestFiles([folder])).flatMap(({ problems }) => problems)).toEqual([])
  const { sessions } = await testGateway({ home, adapters: [folder] })
  /** The parent of a command that the agent runs is the agent. */
  const pidOf = async (adapter: string): Promise<string> => {
    const { id } = await sessions.spawn({ adapter, cwd: home, permissionMode: 'approve-all' }, owner)
    const { turn } = await sessions.prompt(id, { prompt: `run echo $PPID > ${id}` }, owner)
    await sessions.waitTurn(id, turn)
    return (await readFile(join(home, id), 'utf8')).trim()
  }
  const [first, second] = [await pidOf('demo-shared'), await pidOf('demo-shared')]
  expect(first).toMatch(/^\d+$/)
  expect(second).toBe(first)
  expect(await pidOf('demo')).not.toBe(await pidOf('demo'))
})
