import { acpArm, type AcpArmProfile } from '@agentproto/acp'
import { launchOf, testArm } from '@agentproto/arm-testing'
import { afterAll } from 'vitest'
import { startSocketBridge } from './fixtures/socket-bridge.ts'

const bridge = await startSocketBridge()
afterAll(() => bridge.close())

testArm('the Agent Client Protocol over the network', {
  arm: acpArm,
  start: (how) => ({
    launch: { ...launchOf([]), command: '' },
    profile: {
      endpoint: { url: bridge.url(how), connect: async () => ({ headers: {} }) },
    } satisfies AcpArmProfile,
  }),
  deafTurn: 'waits',
  cannot: [
    // Nothing is launched: there is neither an executable nor an environment, and what runs elsewhere is not ended from here.
    'missing',
    'env',
    'orphan',
    'stubborn',
    'orphans',
    // The end of a process, its exit code and its stderr stay where it runs: what is seen is a lost connection.
    'dies-at-once',
    'dies',
    'leaves',
    'killed',
    'stderr',
  ],
})
