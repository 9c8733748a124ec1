import { expect, test } from 'vitest'
import { declaredVariables, parseAgentCli } from '@agentproto/manifest'
import { SAMPLE } from './sample.js'

test('the variables an agent needs from its host are named once each', () => {
  const result = parseAgentCli(SAMPLE, { path: 'AGENT-CLI.md' })
  if (!result.ok) throw new Error('the sample is not valid')
  expect(declaredVariables(result.manifest)).toEqual(['SAMPLE_API_KEY', 'HTTPS_PROXY'])
})
