import { fileURLToPath } from 'node:url'
import type { AgentHost, AgentCliHandle, StartOptions, Session, StreamEvent } from '@agentproto/driver-agent-cli'
import { defineAgentCli } from '@agentproto/driver-agent-cli'
import type { AgentCliDocument } from '@agentproto/manifest'
import { onTestFinished } from 'vitest'

export const agentFile = fileURLToPath(new URL('fixtures/agent.mjs', import.meta.url))

/** An AGENT-CLI.md of the fixture agent. */
export const document: AgentCliDocument = {
  name: 'small',
  id: 'small',
  description: 'A small agent for tests.',
  version: '1.0.0',
  bin: 'small-agent',
  bin_args: ['acp'],
  install: [{ method: 'npm', package: 'small-agent' }],
  version_check: { cmd: 'small-agent --version', parse: '(\\d+\\.\\d+\\.\\d+)', range: '>=1.0.0' },
  sandbox: { provider: 'local', env: { passthrough: ['SMALL_TOKEN'], set: { FROM_SANDBOX: 'yes' } } },
  auth: { state: { env: ['SMALL_API_KEY'] }, login: { cmd: 'small-agent login' } },
  protocol: 'acp',
  acp: './ACP.md',
  models: { default: 'tiny', allowed: ['tiny', 'huge'], env: { default: 'SMALL_MODEL' } },
  modes: [
    { id: 'plan', bin_args_append: ['--plan'], env: { FROM_MODE: 'plan' } },
    { id: 'login', bin_args_append: ['--login'] },
    { id: 'mute', bin_args_append: ['--mute'] },
  ],
  options: [{ id: 'turns', type: 'integer', min: 1, max: 9, bin_args_template: ['--turns', '{value}'] }],
}

/** A host that has the fixture agent, and an environment of its own. */
export const host: AgentHost = {
  env: {
    PATH: process.env['PATH'],
    HOME: '/home/user',
    SMALL_API_KEY: 'declared secret',
    SMALL_TOKEN: 'passed secret',
    OTHER_TOKEN: 'undeclared secret',
    AGENTPROTO_SESSION_ID: 'stale',
    AGENTPROTO_URL: 'stale',
  },
  home: '/no/such/home',
  executables: { 'small-agent': agentFile },
  limits: { stdinGraceMs: 300, termGraceMs: 300 },
}

export const small = (more: Partial<AgentHost> = {}): AgentCliHandle => defineAgentCli(document, { ...host, ...more })

/** Starts the fixture agent and ends it with the test. */
export async function start(options: StartOptions = {}, more: Partial<AgentHost> = {}): Promise<Session> {
  const session = await small(more).start(options)
  onTestFinished(async () => void (await session.close()))
  return session
}

/** Sends a text and reads its turn to the end. */
export async function say(session: Session, text: string): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const event of session.send(text)) events.push(event)
  return events
}

export const textOf = (events: readonly StreamEvent[]): string =>
  events.flatMap((event) => (event.type === 'text-delta' ? [event.text] : [])).join('')
