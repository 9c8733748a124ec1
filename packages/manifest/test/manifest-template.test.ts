import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type AgentAnswers, manifestTemplate, type TemplateOptions } from '@agentproto/manifest'
import { readAgentCli, type ReadResult } from '@agentproto/manifest/node'
import { tempFolder } from './temp-folder.js'

async function readTemplate(options: TemplateOptions): Promise<ReadResult> {
  const files = [...manifestTemplate(options)].map(([name, text]) => [`${options.id}/${name}`, text])
  return readAgentCli(join(await tempFolder(Object.fromEntries(files)), options.id))
}

const ANSWERS: AgentAnswers = {
  name: 'Acme',
  version: '2.3.4',
  loadSession: true,
  image: true,
  audio: false,
  embeddedContext: true,
  mcpHttp: true,
  mcpSse: false,
  modes: [
    { id: 'Code', name: 'Code' },
    { id: 'plan mode', name: 'Plan', description: 'Only plans' },
  ],
  models: ['acme-1', 'acme-2'],
  defaultModel: 'acme-1',
  logins: [{ id: 'key', name: 'API key', needsTerminal: false }],
}

test.each(['acp', 'mcp'] as const)('12.C7 the template for %s has no error and no warning', async (protocol) => {
  expect(await readTemplate({ id: 'acme', protocol })).toMatchObject({ ok: true, warnings: [] })
})

test('12.C7 a manifest of answers has the capabilities, modes, models and logins of the agent', async () => {
  const options = { id: 'acme', protocol: 'acp', command: ['/opt/acme/bin/acme', '--acp'], answers: ANSWERS } as const
  expect(manifestTemplate(options).get('AGENT-CLI.md')).toContain('- API key (`key`)')
  expect(await readTemplate(options)).toMatchObject({
    ok: true,
    warnings: [],
    acp: {
      agent: { loadSession: true, image: true, audio: false, embeddedContext: true, mcpHttp: true, mcpSse: false },
    },
    manifest: {
      bin: '/opt/acme/bin/acme',
      binArgs: ['--acp'],
      versionCheck: { range: '>=2.3.4' },
      capabilities: { resumable: true, multimodal: true },
      modes: [{ id: 'code' }, { id: 'plan-mode', description: 'Only plans' }],
      models: { default: 'acme-1', allowed: ['acme-1', 'acme-2'] },
      metadata: { agentproto: { tested: '2.3.4', session_modes: { code: 'Code', 'plan-mode': 'plan mode' } } },
    },
  })
})

test('12.C7 no answer of an agent can add a key or end the front matter', async () => {
  const hostile = 'x\n---\nbin: /bin/evil\u001b[31m\u202e: {{"\'` #'
  const answers: AgentAnswers = {
    ...ANSWERS,
    name: hostile,
    version: hostile,
    modes: [
      { id: hostile, name: hostile, description: hostile },
      { id: '__proto__', name: 'p' },
    ],
    models: [hostile],
    defaultModel: hostile,
    logins: [{ id: hostile, name: hostile, needsTerminal: true }],
  }
  const read = await readTemplate({ id: 'acme', protocol: 'acp', command: ['acme'], answers })
  expect(read).toMatchObject({ ok: true, manifest: { bin: 'acme', name: 'acme', versionCheck: { range: '*' } } })
  const [text = ''] = manifestTemplate({ id: 'acme', protocol: 'acp', command: ['acme'], answers }).values()
  expect(text).not.toMatch(/[\p{Cf}\u001b]/u)
})
