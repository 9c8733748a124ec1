import { proprietaryArm } from '@agentproto/arm-proprietary'
import { testArm } from '@agentproto/arm-testing'
import { profile, repl } from './connecting.ts'

const settings = {
  prompt: '>',
  questions: [
    {
      pattern: 'May I .*\\(y/n\\)',
      options: [
        { optionId: 'yes', kind: 'allow_once', reply: 'y' },
        { optionId: 'no', kind: 'reject_once', reply: 'n' },
      ],
    },
  ],
}

testArm('a prompt in a terminal', {
  arm: proprietaryArm,
  start: (how) => ({ launch: repl(how), profile: profile(settings) }),
  // A terminal has no handshake beyond its prompt, one stream, and nothing but text.
  cannot: [
    'refuses',
    'wrong-version',
    'half-open',
    'dies',
    'fails',
    'late',
    'after-end',
    'garbage',
    'unknown',
    'asks',
    'stderr',
    'think',
    'tool',
    'tool-open',
    'tool-only-result',
    'tool-twice',
    'no-stdin',
    'no-stdout',
  ],
})
