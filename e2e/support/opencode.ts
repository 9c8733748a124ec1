import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { GatewayOptions } from '@agentproto/runtime'
import { onTestFinished } from 'vitest'
import { startMockLlm, type MockLlm } from '../mock-llm/start-mock-llm.js'
import { drive, fromCatalogue, requireInstalled, type DrivenAgent, type Driving } from './driven-agent.js'
import { startGateway, type TestGateway } from './gateway.js'
import { temporaryFolder } from './temporary-folder.js'

/** OpenCode, through the driver alone. */
export async function driveOpenCode(
  options: Omit<Driving, 'env'> = {},
): Promise<DrivenAgent & { readonly mock: MockLlm }> {
  const mock = await startMockLlm()
  onTestFinished(() => mock.close())
  const env = openCodeEnvironment(temporaryFolder('opencode'), mock.url)
  const executables = { opencode: requireInstalled('opencode') }
  const handle = await fromCatalogue('opencode', { executables, env: { PATH: process.env['PATH'] } })
  return { ...(await drive(handle, { ...options, env })), mock }
}

export interface OpenCodeFolders {
  /** The home of the agent. */
  readonly home: string
  readonly mockUrl: string
}

/** A gateway whose `opencode` has its own home and a mock model. */
export async function startOpenCodeGateway(
  more: (folders: OpenCodeFolders) => Partial<GatewayOptions> = () => ({}),
): Promise<TestGateway & { readonly mock: MockLlm }> {
  const executable = requireInstalled('opencode')
  const mock = await startMockLlm()
  onTestFinished(() => mock.close())
  const home = temporaryFolder('opencode')
  const gateway = await startGateway({
    executables: { opencode: executable },
    env: openCodeEnvironment(home, mock.url),
    ...more({ home, mockUrl: mock.url }),
  })
  return { ...gateway, mock }
}

/** The variables of an OpenCode with this home and model. */
export function openCodeEnvironment(home: string, mockUrl: string): Record<string, string> {
  const folder = join(home, '.config', 'opencode')
  mkdirSync(folder, { recursive: true })
  writeFileSync(join(folder, 'opencode.json'), JSON.stringify(openCodeConfig(mockUrl)))
  return {
    HOME: home,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    XDG_CACHE_HOME: join(home, '.cache'),
    NO_PROXY: '127.0.0.1,localhost',
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_LSP_DOWNLOAD: '1',
    OPENCODE_DISABLE_DEFAULT_PLUGINS: '1',
    // It installs a plugin package in the background at each start; here the installation fails.
    npm_config_registry: `${mockUrl}/npm`,
  }
}

function openCodeConfig(mockUrl: string): unknown {
  const model = { tool_call: true, limit: { context: 128_000, output: 8_192 } }
  return {
    $schema: 'https://opencode.ai/config.json',
    autoupdate: false,
    share: 'disabled',
    model: 'mock/mock-1',
    small_model: 'mock/mock-2',
    enabled_providers: ['mock'],
    // By default it never asks.
    permission: { edit: 'ask', bash: 'ask', webfetch: 'deny' },
    provider: {
      mock: {
        npm: '@ai-sdk/openai-compatible',
        name: 'Mock',
        options: { baseURL: `${mockUrl}/v1`, apiKey: 'dummy' },
        models: { 'mock-1': { name: 'Mock One', reasoning: true, ...model }, 'mock-2': { name: 'Mock Two', ...model } },
      },
    },
  }
}
