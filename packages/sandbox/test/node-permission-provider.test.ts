import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createSandboxes } from '@agentproto/sandbox'
import { expect, onTestFinished, test } from 'vitest'
import { permissionModel } from '../src/node-permission-provider.js'
import { folder, profileOf, requestOf, run } from './confining.ts'

test.each([
  ['20.19.0', { flag: '--experimental-permission', network: false }],
  ['22.12.0', { flag: '--experimental-permission', network: false }],
  ['22.13.0', { flag: '--permission', network: false }],
  ['23.4.0', { flag: '--experimental-permission', network: false }],
  ['24.21.0', { flag: '--permission', network: false }],
  ['25.0.0', { flag: '--permission', network: true }],
])('Node %s confines by %o', (version, model) => expect(permissionModel(version)).toEqual(model))

test('a script is confined to its mounts and starts nothing, and gaps are reported', async () => {
  const [workspace, outside, scripts] = [folder(), folder(), folder()]
  const script = join(scripts, 'agent.mjs')
  writeFileSync(
    script,
    `import { writeFileSync } from 'node:fs'
     import { execFileSync } from 'node:child_process'
     const attempt = (work) => { try { work(); return 'did' } catch (error) { return error.code } }
     console.log(JSON.stringify([
       attempt(() => writeFileSync('${workspace}/in', '')),
       attempt(() => writeFileSync('${outside}/out', '')),
       attempt(() => execFileSync('/bin/true')),
     ]))`,
  )
  const profile = profileOf({
    provider: 'node-permission',
    mounts: [{ source: 'workspace', at: workspace, mode: 'read-write' }],
  })
  const { launch, sandbox, release } = await createSandboxes().confine(
    profile,
    requestOf(workspace, [process.execPath, script]),
  )
  onTestFinished(release)
  expect(JSON.parse((await run(launch)).stdout)).toEqual(['did', 'ERR_ACCESS_DENIED', 'ERR_ACCESS_DENIED'])
  const expected = permissionModel(process.versions.node).network
    ? { enforced: true }
    : { enforced: false, reason: 'this Node version does not confine the network' }
  expect(sandbox).toEqual({ provider: 'node-permission', ...expected })
})

test('what is not a script that Node runs is not confined, and says so', async () => {
  const request = requestOf('/tmp', ['/bin/true'])
  const { launch, sandbox } = await createSandboxes().confine(profileOf({ provider: 'node-permission' }), request)
  expect(launch).toEqual(request.launch)
  expect(sandbox).toMatchObject({
    provider: 'node-permission',
    enforced: false,
    reason: expect.stringContaining('Node'),
  })
})
