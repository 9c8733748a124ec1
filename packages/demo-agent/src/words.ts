import { ask, disguise, question } from './words/requests.js'
import { call, delegate } from './words/delegate.js'
import { flood } from './words/flood.js'
import {
  crash,
  duplicate,
  fail,
  fork,
  garbage,
  hang,
  hangForever,
  late,
  loop,
  stop,
  stubborn,
} from './words/misbehave.js'
import { plan, recall, stream, think, usage } from './words/talk.js'
import { read, write } from './words/files.js'
import { run } from './words/command.js'
import type { Turn } from './turn.js'

/** What one first word of a prompt does. */
export interface Word {
  /** Names of its arguments. */
  readonly usage: string
  /** One line for `--help`. */
  readonly summary: string
  run(turn: Turn, argument: string): void | Promise<void>
}

/** Every word, in the order of `--help`. */
export const WORDS: Readonly<Record<string, Word>> = {
  stream: { usage: 'N [MS]', summary: 'N text chunks, MS milliseconds apart (10, 0)', run: stream },
  think: { usage: '[TEXT]', summary: 'a thought, then a short answer', run: think },
  read: { usage: 'FILE', summary: 'reads a file of the working folder', run: read },
  write: { usage: 'FILE [TEXT]', summary: 'writes a file of the working folder, with a diff', run: write },
  run: { usage: 'CMD', summary: 'runs a shell command, with its output', run: run },
  ask: { usage: '[FILE [TEXT]]', summary: 'asks for permission, then writes (demo.txt)', run: ask },
  disguise: { usage: 'CMD', summary: 'asks to run CMD under a long harmless title; runs nothing', run: disguise },
  question: { usage: '[TEXT]', summary: 'asks a question with a form', run: question },
  plan: { usage: '', summary: 'a plan of three steps, worked off', run: plan },
  usage: { usage: '[SUM [TOKENS]]', summary: 'reports the cost so far and the tokens of the turn', run: usage },
  recall: { usage: '', summary: 'the texts of the earlier prompts', run: recall },
  delegate: {
    usage: 'PROMPT [| PROMPT]',
    summary: 'starts an agent by the gateway’s tools and prompts it',
    run: delegate,
  },
  call: { usage: 'TOOL [JSON]', summary: 'calls a tool of the gateway’s', run: call },
  hang: { usage: '', summary: 'never answers, but for a cancel', run: hang },
  'hang!': { usage: '', summary: 'never answers, not even a cancel', run: hangForever },
  late: { usage: 'MS', summary: 'answers after MS milliseconds (1000)', run: late },
  crash: { usage: '[CODE]', summary: 'exits in the middle of a line, with CODE (1)', run: crash },
  garbage: { usage: '[TEXT]', summary: 'a line on stdout that is no JSON', run: garbage },
  flood: { usage: 'N', summary: 'N updates as fast as possible (100000)', run: flood },
  stubborn: { usage: '', summary: 'from now on ignores SIGTERM and the end of stdin', run: stubborn },
  fork: { usage: '', summary: 'leaves a grandchild in a session of its own', run: fork },
  stop: { usage: 'REASON', summary: 'ends the turn with any stop reason (because)', run: stop },
  loop: { usage: 'N [COUNT]', summary: 'COUNT calls (1) with the same results, N times in turn (10)', run: loop },
  duplicate: { usage: '', summary: 'uses one tool call id again and again', run: duplicate },
  fail: { usage: '[TEXT]', summary: 'answers the prompt with a JSON-RPC error', run: fail },
}
