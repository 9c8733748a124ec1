import { proprietaryArm } from '@agentproto/arm-proprietary'
import type { ProprietaryProfile } from '@agentproto/arm-proprietary'
import { fixtureLaunch, testArm } from '@agentproto/arm-testing'

const profile: ProprietaryProfile = {
  adapter: 'plain',
  allowed: { plain: { version: '1.0.0', module: () => import('./fixtures/plain-adapter.ts') } },
  capabilities: {
    streaming: true,
    toolCalls: true,
    subAgents: false,
    fileIo: false,
    multimodal: false,
    resumable: false,
    bidirectional: true,
  },
}

testArm('an adapter package', {
  arm: proprietaryArm,
  start: (how) => ({ launch: fixtureLaunch('plain', how), profile }),
})
