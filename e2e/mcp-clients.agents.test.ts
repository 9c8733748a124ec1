import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { authorisingFront } from './support/authorising-front.js'
import { requireInstalled } from './support/driven-agent.js'
import { finished, type Finished } from './support/finished-process.js'
import { startGateway, type TestGateway } from './support/gateway.js'
import { temporaryFolder } from './support/temporary-folder.js'
import { needs } from '../tooling/needs.ts'

// Third-party MCP clients: the conformance suite of the protocol, and the command line of the inspector.

const CLI = fileURLToPath(new URL('../packages/cli/bin/agentproto.mjs', import.meta.url))
const ON_NODE_20 = new URL('./support/conformance-on-node-20.mjs', import.meta.url).href

test.each(['server-initialize', 'ping', 'tools-list', 'dns-rebinding-protection'])(
  'the conformance suite passes: %s',
  needs('conformance'),
  async (scenario) => {
    const front = await authorisingFront(await startGateway())
    const suite = ['--import', ON_NODE_20, requireInstalled('conformance')]
    const { code, stdout, stderr } = await finished(
      [...suite, 'server', '--url', `${front}/mcp`, '--scenario', scenario],
      {
        cwd: temporaryFolder('conformance'),
        env: process.env,
      },
    )
    expect([code, `${stdout}${stderr}`]).toEqual([0, expect.stringMatching(/Passed: [1-9]\d*\/\d+, 0 failed/)])
  },
)

interface Inspected {
  readonly run: Finished
  readonly answer: Readonly<Record<string, unknown>>
}

/** The output of the inspector for one request, over HTTP or to `agentproto mcp`. */
async function inspect(gateway: TestGateway, over: 'http' | 'stdio', args: readonly string[]): Promise<Inspected> {
  const home = temporaryFolder('inspector')
  const http = [`${gateway.url}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${gateway.token}`]
  // It passes few variables to its server by default; the others are listed.
  const variables = [`AGENTPROTO_URL=${gateway.url}`, `AGENTPROTO_TOKEN=${gateway.token}`].flatMap((set) => ['-e', set])
  const target = over === 'http' ? http : [process.execPath, CLI, 'mcp', ...variables]
  const run = await finished([requireInstalled('inspector'), '--cli', ...target, ...args], {
    cwd: home,
    env: { ...process.env, HOME: home },
  })
  return { run, answer: parsed(run.stdout) }
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    return JSON.parse(text) as Readonly<Record<string, unknown>>
  } catch {
    return {}
  }
}

test.each(['http', 'stdio'] as const)(
  'the inspector lists and calls tools over %s, with both protocol generations',
  needs('inspector'),
  async (over) => {
    const gateway = await startGateway()
    const listed = await inspect(gateway, over, ['--method', 'tools/list', '--strict'])
    expect([listed.run.code, listed.answer['tools']]).toEqual([0, expect.any(Array)])
    expect(listed.answer['tools']).toHaveLength(15)
    const args = JSON.stringify({ adapter: 'demo', cwd: gateway.cwd, prompt: 'hello' })
    const call = ['--method', 'tools/call', '--tool-name']
    const started = await inspect(gateway, over, [...call, 'start_agent_session', '--tool-args-json', args])
    expect(started.answer['structuredContent']).toMatchObject({ adapterSlug: 'demo', status: 'running' })
    const { id: sessionId } = started.answer['structuredContent'] as { id: string }
    const wait = JSON.stringify({ sessionId, turn: 1 })
    const modern = ['--protocol-era', 'modern', ...call]
    const waited = await inspect(gateway, over, [...modern, 'wait_agent_turn', '--tool-args-json', wait])
    expect(waited.answer['structuredContent']).toMatchObject({ state: 'ended', result: { text: 'echo: hello' } })
    const unknown = JSON.stringify({ sessionId: 'unknown' })
    const refused = await inspect(gateway, over, [...call, 'kill_agent_session', '--tool-args-json', unknown])
    // The exit code of the inspector for a result with `isError`.
    expect(refused).toMatchObject({ run: { code: 5 }, answer: { isError: true } })
  },
)
