import { acpArm } from '@agentproto/acp'
import { fixtureLaunch, testArm } from '@agentproto/arm-testing'
import { MemoryKeeper } from '../../../../tooling/memory-keeper.ts'

testArm('the Agent Client Protocol', {
  arm: acpArm,
  start: (how) => ({ launch: fixtureLaunch('acp', how) }),
  keeper: () => new MemoryKeeper(),
  // ACP wants the agent to answer a cancelled prompt, and its host to end one that does not.
  deafTurn: 'waits',
})
