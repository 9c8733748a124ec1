import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { cli, folder, serve } from './cli-process.js'

test('15.1 open names the gateway’s own address, or the public one that is configured, with the session', async () => {
  const home = folder()
  const { url } = await serve(home)
  const own = await cli(['open', '--no-browser', '--json'], { home })
  expect(JSON.parse(own.stdout).url).toMatch(`${url}/console/#code=agp_c_`)

  const behind = folder()
  writeFileSync(join(behind, 'config.json'), JSON.stringify({ publicUrl: 'https://host.example/agents/' }))
  await serve(behind)
  const started = await cli(['sessions', 'start', 'demo', '--label', 'try', '--json'], { home: behind })
  const { id } = JSON.parse(started.stdout) as { readonly id: string }
  const there = await cli(['open', 'try', '--no-browser'], { home: behind })
  expect(there).toMatchObject({ code: 0, stderr: '' })
  expect(there.stdout).toMatch(/^https:\/\/host\.example\/agents\/console\/#code=agp_c_[\w-]+\/sessions\/[\w-]+\n$/)
  expect(there.stdout.trim().split('/').at(-1)).toBe(id)
})
