import { setTimeout as delay } from 'node:timers/promises'
import type { McpServer, McpServerStdio } from '@agentclientprotocol/sdk'
import type { Client, Transport } from '@modelcontextprotocol/client'
import { errorText } from '../error-text.js'
import type { Turn } from '../turn.js'
import { firstAndRest } from './argument.js'
import { callTool, textContent } from './tool-call.js'

/** The name under which a gateway mounts its own tools. */
const GATEWAY = 'agentproto'

/** Starts an agent of its own kind through the gateway's tools, prompts it again and again, and says what it answers. */
export async function delegate(turn: Turn, argument: string): Promise<void> {
  const prompts = argument
    .split('|')
    .map((prompt) => prompt.trim())
    .filter(Boolean)
  await withTools(turn, async (tool) => {
    const { id: sessionId } = await tool('start_agent_session', { adapter: process.env['AGENTPROTO_AGENT'] ?? 'demo' })
    for (const prompt of prompts) {
      const { turn: number } = await tool('prompt_agent_session', { sessionId, prompt })
      turn.say(`${String(sessionId)} said: ${await waitFor(turn, { tool, input: { sessionId, turn: number } })}\n`)
    }
    await tool('kill_agent_session', { sessionId })
  })
}

/** How often a wait is repeated that got no answer, as from a gateway that is being replaced, and the milliseconds between. */
const MAX_LOST = 60
const LOST_MS = 500

interface Waiting {
  readonly tool: CallGateway
  readonly input: Record<string, unknown>
}

/** Waits for the end of a turn, and again when the time is up. @returns what its agent said */
async function waitFor(turn: Turn, { tool, input }: Waiting): Promise<string> {
  for (let lost = 0; lost < MAX_LOST;) {
    const { state, result } = await tool('wait_agent_turn', input)
    if (state === 'busy') continue
    if (state !== undefined) return textOf(result)
    lost += 1
    await delay(LOST_MS, undefined, { signal: turn.signal })
  }
  return 'nothing'
}

/** Calls one tool of the gateway's, and says its result or its refusal. */
export async function call(turn: Turn, argument: string): Promise<void> {
  const [name, rest] = firstAndRest(argument)
  await withTools(turn, async (tool) => {
    const input: unknown = rest === '' ? {} : JSON.parse(rest)
    turn.say(JSON.stringify(await tool(name, input as Record<string, unknown>)))
  })
}

type Result = Readonly<Record<string, unknown>>
type CallGateway = (name: string, input: Record<string, unknown>) => Promise<Result>

const textOf = (result: unknown): string =>
  typeof result === 'object' && result !== null && 'text' in result ? String(result.text) : 'nothing'

/** Connects to the gateway's tools for one piece of work; what goes wrong is said. */
async function withTools(turn: Turn, work: (tool: CallGateway) => Promise<void>): Promise<void> {
  const server = turn.session.mcpServers.find(({ name }) => name === GATEWAY)
  if (server === undefined) return turn.say('I was given no tools of a gateway.')
  try {
    await withClient(server, (client) => work((name, input) => callAsTool(turn, { client, name, input })))
  } catch (error) {
    turn.say(errorText(error))
  }
}

async function withClient(server: McpServer, work: (client: Client) => Promise<void>): Promise<void> {
  const client = await connected(server)
  try {
    await work(client)
  } finally {
    await client.close()
  }
}

/** Loaded when it is first needed: most conversations have no tools to call. */
async function connected(server: McpServer): Promise<Client> {
  const { Client, StreamableHTTPClientTransport } = await import('@modelcontextprotocol/client')
  const client = new Client({ name: 'agentproto-demo-agent', version: '1' })
  const { name } = server
  if ('command' in server) await client.connect(await launched(server))
  else if ('url' in server) {
    const requestInit = { headers: named(server.headers) }
    await client.connect(new StreamableHTTPClientTransport(new URL(server.url), { requestInit }))
  } else throw new Error(`"${name}" is no server that I reach`)
  return client
}

/** With what the protocol's own client hands on of an environment, which is little. */
async function launched({ command, args, env }: McpServerStdio): Promise<Transport> {
  const { StdioClientTransport } = await import('@modelcontextprotocol/client/stdio')
  return new StdioClientTransport({ command, args: [...args], env: named(env), stderr: 'ignore' })
}

const named = (pairs: readonly { readonly name: string; readonly value: string }[]): Record<string, string> =>
  Object.fromEntries(pairs.map(({ name, value }) => [name, value]))

interface GatewayCall {
  readonly client: Client
  readonly name: string
  readonly input: Record<string, unknown>
}

/** Shown as a tool call of the turn, as a real agent's is. @throws what the gateway refuses */
async function callAsTool(turn: Turn, { client, name, input }: GatewayCall): Promise<Result> {
  let answer: Result = {}
  let refusal: string | undefined
  await callTool(turn, { title: name, kind: 'other', input }, async () => {
    const { content, structuredContent, isError } = await unlessBroken(
      client,
      client.callTool({ name, arguments: input }),
    )
    const [first] = content
    const text = first?.type === 'text' ? first.text : ''
    if (isError === true) refusal = text
    else answer = (structuredContent ?? {}) as Result
    return { content: [textContent(text)], failed: isError === true }
  })
  if (refusal === undefined) return answer
  throw new Error(`${name} was refused: ${refusal}`)
}

/** Rejects when the connection breaks: the protocol's own client would wait until the time for an answer is up. */
function unlessBroken<T>(client: Client, answer: Promise<T>): Promise<T> {
  const broken = new Promise<never>((_, onerror) => Object.assign(client, { onerror }))
  return Promise.race([answer, broken])
}
