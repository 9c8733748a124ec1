import { expect, test } from 'vitest'
import { compileLaunch, formatProblem, parseAgentCli } from '@agentproto/manifest'

const text = `---
name: claude-code
id: claude-code
description: An agent.
version: 1.0.0
bin: claude-agent
bin_args: [acp]
install: [{ method: npm, package: "@sample/agent" }]
version_check: { cmd: claude-agent --version, parse: "(\\\\d+\\\\.\\\\d+\\\\.\\\\d+)", range: "*" }
sandbox: ./SANDBOX.md
protocol: acp
acp: ./ACP.md
modes:
  - { id: plan, bin_args_append: [--permission-mode, plan] }
options:
  - { id: max_turns, type: integer, min: 1, bin_args_template: [--max-turns, "{value}"] }
---
`

test('the example of the README does what it says', () => {
  const result = parseAgentCli(text, { path: 'claude-code/AGENT-CLI.md' })
  if (!result.ok) throw new Error(result.problems.map(formatProblem).join('\n'))
  const { args, env } = compileLaunch(result.manifest, { mode: 'plan', options: { max_turns: 5 } })
  expect(args).toEqual(['acp', '--permission-mode', 'plan', '--max-turns', '5'])
  expect(env).toEqual({})
})

test('a formatted problem is one line, with the line of the file below it', () => {
  const result = parseAgentCli(text.replace('protocol: acp', 'protocol: apc'), { path: 'x/AGENT-CLI.md' })
  const [problem] = result.ok ? [] : result.problems.filter(({ code }) => code === 'protocol_unsupported')
  if (problem === undefined) throw new Error('the problem is not reported')
  expect(formatProblem(problem)).toBe(
    'x/AGENT-CLI.md:11:11 error protocol_unsupported: `protocol` has a value that is not allowed. (expected one of acp, mcp, proprietary; given apc; try acp)\n    protocol: apc',
  )
})
