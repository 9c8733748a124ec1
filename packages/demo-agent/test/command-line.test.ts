import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { WORDS } from '../src/words.js'
import { builtDemoAgent } from './built-agent.js'

const runAgent = (...args: string[]) =>
  spawnSync(process.execPath, [builtDemoAgent(), ...args], { encoding: 'utf8', input: '' })

test('--help says every word, one line each', () => {
  const { status, stdout } = runAgent('--help')
  expect(status).toBe(0)
  const lines = stdout.split('\n')
  for (const [name, { summary }] of Object.entries(WORDS)) {
    expect(lines.filter((line) => line.startsWith(`  ${name} `) && line.endsWith(summary))).toHaveLength(1)
  }
})

test('the words are these', () => {
  expect(Object.keys(WORDS).join(' ')).toBe(
    'stream think read write run ask disguise question plan usage recall delegate call ' +
      'hang hang! late crash garbage flood stubborn fork stop loop duplicate fail',
  )
})

test.for([
  [[], { http: true }],
  [['--mcp-stdio-only', '--model', 'demo-2'], { http: false }],
] as const)('with %j it says that it takes MCP servers as %j', ([args, mcpCapabilities]) => {
  const input = '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n'
  const { stdout } = spawnSync(process.execPath, [builtDemoAgent(), ...args], { encoding: 'utf8', input })
  expect(JSON.parse(stdout)).toMatchObject({ result: { agentCapabilities: { mcpCapabilities } } })
})

test('--version is the version of the package', () => {
  const { version }: { version: string } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  expect(runAgent('--version').stdout).toBe(`${version}\n`)
})

test.for([
  [['--nope'], "Unknown option '--nope'"],
  [['--model', 'gpt'], '--model must be one of demo-1, demo-2, not gpt'],
  [['--mode'], "Option '--mode <value>' argument missing"],
] as const)('%s is refused', ([args, message]) => {
  const { status, stderr } = runAgent(...args)
  expect(status).toBe(2)
  expect(stderr).toContain(message)
})

test('it ends with stdin, and a line that is no JSON is answered as such', () => {
  const { status, stdout } = spawnSync(process.execPath, [builtDemoAgent()], { encoding: 'utf8', input: 'oops\n\n' })
  expect(status).toBe(0)
  expect(stdout).toBe('{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}\n')
})
