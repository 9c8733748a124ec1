import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { demoAgentPath } from '@agentproto/demo-agent'
import { expect, test } from 'vitest'
import { builtDemoAgent } from './built-agent.js'

test('the README’s example gets an answer and ends', async () => {
  expect(builtDemoAgent()).toBe(demoAgentPath)
  const shown: unknown[] = []
  const agent = spawn(process.execPath, [demoAgentPath], { stdio: ['pipe', 'pipe', 'inherit'] })
  agent.stdout.setEncoding('utf8').on('data', (lines: string) => lines.split('\n').forEach(show))
  agent.stdin.write('{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n')

  function show(line: string): void {
    if (line) shown.push(JSON.parse(line))
    agent.stdin.end()
  }

  await once(agent, 'exit')
  expect(shown).toMatchObject([{ id: 1, result: { protocolVersion: 1, authMethods: [] } }])
})
