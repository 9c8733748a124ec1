import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AgentCliHandle, AgentHost } from '@agentproto/driver-agent-cli'
import { onTestFinished } from 'vitest'
import { startMockLlm, type MockLlm } from '../mock-llm/start-mock-llm.js'
import { drive, fromCatalogue, requireInstalled, type DrivenAgent, type Driving } from './driven-agent.js'
import { temporaryFolder } from './temporary-folder.js'
import adapter from '@agentproto/adapter-gemini-cli/package.json' with { type: 'json' }

/** The two ways in which Gemini CLI is driven. */
export type GeminiWay = 'acp' | 'headless'

export interface GeminiHome {
  readonly mock: MockLlm
  readonly env: Readonly<Record<string, string>>
}

/** A new home with a key as its login, and a mock model. */
export async function geminiHome(): Promise<GeminiHome> {
  const mock = await startMockLlm()
  onTestFinished(() => mock.close())
  return { mock, env: geminiEnvironment(temporaryFolder('gemini'), mock.url) }
}

/** The variables of a Gemini CLI with this home and model. */
export function geminiEnvironment(home: string, mockUrl: string): Record<string, string> {
  mkdirSync(join(home, '.gemini'))
  writeFileSync(join(home, '.gemini', 'settings.json'), JSON.stringify(SETTINGS))
  return {
    HOME: home,
    TERM: 'dumb',
    NO_COLOR: '1',
    NO_PROXY: '127.0.0.1,localhost',
    GEMINI_CLI_NO_RELAUNCH: 'true',
    GEMINI_API_KEY: 'dummy',
    GOOGLE_GEMINI_BASE_URL: mockUrl,
  }
}

const SETTINGS = {
  general: {
    enableAutoUpdate: false,
    enableAutoUpdateNotification: false,
    disableAutoUpdate: true,
    disableUpdateNag: true,
  },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  security: { auth: { selectedType: 'gemini-api-key' }, folderTrust: { enabled: false } },
}

/** Gemini CLI, through the driver alone. */
export async function driveGemini(
  way: GeminiWay,
  { home, ...options }: Omit<Driving, 'env'> & { readonly home?: GeminiHome } = {},
): Promise<DrivenAgent & GeminiHome> {
  const { mock, env } = home ?? (await geminiHome())
  return { ...(await drive(await geminiHandle(way), { ...options, env })), mock, env }
}

function geminiHandle(way: GeminiWay): Promise<AgentCliHandle> {
  const host: Partial<AgentHost> & Pick<AgentHost, 'executables'> = {
    executables: { gemini: requireInstalled('gemini') },
    env: { PATH: process.env['PATH'] },
    proprietary: {
      '@agentproto/adapter-gemini-cli': {
        version: adapter.version,
        module: () => import('@agentproto/adapter-gemini-cli'),
      },
    },
  }
  return fromCatalogue(way === 'acp' ? 'gemini-cli' : 'gemini-cli-headless', host)
}
