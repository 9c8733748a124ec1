import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createGateway } from '@agentproto/runtime'
import { expect, onTestFinished, test } from 'vitest'

test('16.3 a gateway removes the sandboxes of its sessions that have ended, and no others', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sandboxes-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const options = { home: join(folder, 'home'), cwd: folder, env: { ...process.env, HOME: folder } }
  const owner = { type: 'owner', name: 'owner' } as const
  const first = await createGateway(options)
  const { id } = await first.sessions.spawn({ adapter: 'demo' }, owner)
  await first.close()
  const sandboxes = join(options.home, 'sandboxes')
  for (const name of [id, 'ses_of_another_program', '.hidden']) {
    mkdirSync(join(sandboxes, name, 'launch-abcdef'), { recursive: true })
    writeFileSync(join(sandboxes, name, 'launch-abcdef/text-0'), 'text')
  }
  const second = await createGateway(options)
  onTestFinished(() => second.close())
  expect([...readdirSync(sandboxes)].sort()).toEqual(['.hidden', 'ses_of_another_program'])
})
