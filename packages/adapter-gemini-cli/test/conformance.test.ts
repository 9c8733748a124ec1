import { proprietaryArm } from '@agentproto/arm-proprietary'
import { testArm } from '@agentproto/arm-testing'
import { fakeGemini, profile } from './connecting.ts'

testArm('Gemini CLI in its headless mode', {
  arm: proprietaryArm,
  start: () => ({ launch: fakeGemini(), profile }),
  processPerTurn: true,
  // It starts with its first turn, hears nothing while it works, asks nobody, and does not tell what it thinks.
  cannot: [
    'silent',
    'dies-at-once',
    'dies-in-handshake',
    'refuses',
    'wrong-version',
    'half-open',
    'noisy',
    'orphan',
    'stderr-flood',
    'after-end',
    'think',
    'asks',
    'ask',
    'ask-dies',
    'no-stdin',
    'no-stdout',
  ],
})
