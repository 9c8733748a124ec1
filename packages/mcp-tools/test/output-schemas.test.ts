import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect, test } from 'vitest'
import { connected, ERAS, type Connected } from './connected.ts'

// What a tool returns is what its output schema says, and its text says the same, in both eras of the protocol. The
// schemas are those of the list; a validator that is not ours holds the results against them.

/** As the validator's types want it: without members that may be undefined. */
const given = (schema: object = {}): Record<string, unknown> => ({ ...schema })

/** One result of each tool at least, and of each shape that it has. */
async function resultsOf({
  tool,
  sessions,
}: Connected): Promise<readonly (readonly [name: string, result: unknown])[]> {
  const results: [string, unknown][] = []
  const run = async (name: string, args: Record<string, unknown> = {}): Promise<void> =>
    void results.push([name, await tool(name, args)])
  await run('start_agent_session', { adapter: 'demo' })
  await run('start_agent_session', { adapter: 'demo', prompt: 'ask', label: 'second' })
  await run('list_agent_sessions')
  await run('list_agent_sessions', { onlyAlive: true, limit: 1 })
  await run('prompt_agent_session', { sessionId: 's1', prompt: 'one' })
  await run('wait_agent_turn', { sessionId: 's1', turn: 1 })
  await run('wait_agent_turn', { sessionId: 's2', turn: 1 })
  await run('get_agent_session_output', { sessionId: 's1', lastN: 1 })
  await run('get_agent_session', { sessionId: 's2' })
  await run('wait_for_sessions', { sessionIds: ['s1', 's2'] })
  await run('get_session_changes', { sessionId: 's1', patch: '.' })
  await run('answer_agent_request', { sessionId: 's2', requestId: 'r1', optionId: 'yes' })
  await run('prompt_agent_session', { sessionId: 's1', prompt: 'hang' })
  await run('wait_agent_turn', { sessionId: 's1', turn: 2, timeoutSeconds: 0 })
  await run('interrupt_agent_session', { sessionId: 's1' })
  await run('kill_agent_session', { sessionId: 's1' })
  await run('kill_agent_session', { sessionId: 's1' })
  await run('resume_agent_session', { sessionId: 's1', fresh: true })
  await run('list_agent_adapters')
  await run('list_agent_workspaces')
  await run('list_agent_hosts')
  expect(sessions.all.size).toBe(2)
  return results
}

test.each(ERAS)('every result is what the output schema of its tool says, for a %s client', async (era) => {
  const gateway = await connected(era)
  const { clock } = gateway
  const { tools } = await gateway.client.listTools()
  const ajv = new Ajv2020({ strict: false, allErrors: true })
  const schemas = new Map(tools.map(({ name, outputSchema = {} }) => [name, ajv.compile(given(outputSchema))]))
  const ticking = setInterval(() => clock.advance(1_000), 5)
  const results = await resultsOf(gateway).finally(() => clearInterval(ticking))
  for (const [name, result] of results) {
    const validate = schemas.get(name)
    expect([name, validate?.(result), validate?.errors]).toEqual([name, true, null])
    expect([name, result]).not.toEqual([name, expect.objectContaining({ isError: true })])
  }
  expect(new Set(results.map(([name]) => name))).toEqual(new Set(schemas.keys()))
})

test('the schemas of the list are schemas, and the shapes of arguments are closed', async () => {
  const { client } = await connected()
  const ajv = new Ajv2020({ strict: false })
  for (const { name, inputSchema, outputSchema } of (await client.listTools()).tools) {
    expect([name, ...[inputSchema, outputSchema].map((schema) => ajv.validateSchema(given(schema)))]).toEqual([
      name,
      true,
      true,
    ])
    expect([name, inputSchema['additionalProperties']]).toEqual([name, false])
  }
})

test('there are at most fifteen tools, and the five of AIP-46 come first', async () => {
  const { client } = await connected()
  const names = (await client.listTools()).tools.map(({ name }) => name)
  expect(names.length).toBeLessThanOrEqual(15)
  expect(names.slice(0, 5)).toEqual([
    'start_agent_session',
    'prompt_agent_session',
    'list_agent_sessions',
    'get_agent_session_output',
    'kill_agent_session',
  ])
})
