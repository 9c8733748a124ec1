import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { startMockLlm, type MockLlm } from '../mock-llm/start-mock-llm.js'
import { drive, fromCatalogue, requireInstalled, type DrivenAgent, type Driving } from './driven-agent.js'
import { temporaryFolder } from './temporary-folder.js'

export interface DrivenWithModel extends DrivenAgent {
  readonly mock: MockLlm
}

/** Codex as an MCP server with its own home and a mock model, through the driver alone. */
export const driveCodexMcp = (options: Omit<Driving, 'env'> = {}): Promise<DrivenWithModel> =>
  driveCodex('codex-mcp', { codex: requireInstalled('codex') }, options)

/** Current Codex, over ACP. */
export const driveCodexAcp = (options: Omit<Driving, 'env'> = {}): Promise<DrivenWithModel> =>
  driveCodex('codex', { 'codex-acp': requireInstalled('codex-acp') }, options)

async function driveCodex(
  slug: string,
  executables: Readonly<Record<string, string>>,
  options: Omit<Driving, 'env'>,
): Promise<DrivenWithModel> {
  const mock = await startMockLlm()
  onTestFinished(() => mock.close())
  const env = codexEnvironment(temporaryFolder('codex'), mock.url)
  const handle = await fromCatalogue(slug, { executables, env: { PATH: process.env['PATH'] } })
  return { ...(await drive(handle, { ...options, env })), mock }
}

/** The variables of a Codex with this home and model. */
export function codexEnvironment(home: string, mockUrl: string): Record<string, string> {
  const folder = join(home, '.codex')
  mkdirSync(folder)
  writeFileSync(join(folder, 'config.toml'), codexConfig(mockUrl))
  return {
    HOME: home,
    CODEX_HOME: folder,
    MOCK_MODEL_ACCESS: 'dummy',
    NO_BROWSER: '1',
    NO_PROXY: '127.0.0.1,localhost',
  }
}

/** A model that Codex knows, because it warns of others before every answer, and no setting that needs a network beyond loopback. */
const codexConfig = (mockUrl: string): string => `model = "gpt-5.5"
model_provider = "mock"
approval_policy = "on-request"
sandbox_mode = "read-only"
check_for_update_on_startup = false
[analytics]
enabled = false
[otel]
exporter = "none"
[features]
plugins = false
apps = false
remote_plugin = false
plugin_discovery_prefetch = false
skill_search = false
tool_suggest = false
[model_providers.mock]
name = "Mock"
base_url = "${mockUrl}/v1"
env_key = "MOCK_MODEL_ACCESS"
wire_api = "responses"
request_max_retries = 1
stream_max_retries = 1
`
