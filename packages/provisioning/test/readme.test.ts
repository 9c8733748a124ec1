import { dirname, join } from 'node:path'
import { readAgentCli } from '@agentproto/manifest/node'
import { createProvisioner } from '@agentproto/provisioning'
import { createRedactor, createSecrets } from '@agentproto/secrets'
import { expect, test } from 'vitest'
import { adapterOf, folder, program, versionProgram } from './test-host.ts'

test('the example of the README', async () => {
  const [home, bin] = [folder('home'), folder('bin')]
  program(bin, 'agent-tool', versionProgram('1.2.0'))
  const env = { PATH: `${bin}:/usr/bin:/bin` }
  const setup = [{ id: 'url', kind: 'prompt' as const, prompt: 'Url?', persist: { env: 'TOOL_URL' } }]
  const { path } = await adapterOf({ setup })
  const adapter = await readAgentCli(dirname(path))
  if (!adapter.ok) throw new Error(adapter.problems[0]?.message)
  const redactor = createRedactor()
  const host = { home, env, redactor, secrets: createSecrets({ home, env, redactor, keyring: 'none' }) }
  const provisioner = createProvisioner(adapter, host)
  const types = new Set<string>()
  for await (const event of provisioner.run({ until: 'setup', inputs: { url: 'http://127.0.0.1:9000' } }))
    types.add(event.type)
  expect([...types]).toEqual(['phase', 'step', 'state'])
  expect(await provisioner.state()).toMatchObject({ ready: true, executable: join(bin, 'agent-tool') })
})
