import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { ProprietaryProfile } from '@agentproto/arm-proprietary'
import { launchOf } from '@agentproto/arm-testing'
import type { Launch } from '@agentproto/contracts/agent'
import { afterAll } from 'vitest'
import own from '../package.json' with { type: 'json' }

const home = mkdtempSync(join(tmpdir(), 'adapter-gemini-cli-'))
afterAll(() => rmSync(home, { recursive: true, force: true }))

/** The fake Gemini CLI, with a store of its own. */
export const fakeGemini = (): Launch =>
  launchOf([fileURLToPath(new URL('fixtures/fake-gemini.mjs', import.meta.url))], { HOME: home })

export const profile: ProprietaryProfile = {
  adapter: '@agentproto/adapter-gemini-cli',
  allowed: {
    '@agentproto/adapter-gemini-cli': { version: own.version, module: () => import('@agentproto/adapter-gemini-cli') },
  },
  capabilities: {
    streaming: true,
    toolCalls: true,
    subAgents: false,
    fileIo: true,
    multimodal: false,
    resumable: true,
    bidirectional: false,
  },
}
