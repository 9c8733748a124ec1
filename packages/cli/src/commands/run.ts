import { resolve } from 'node:path'
import { AgentprotoError, defined, isAgentprotoError } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import type { CliCommand } from '../cli-command.js'
import { warn, type CliContext } from '../cli-context.js'
import { addLimitOptions, limitsOf, type LimitOptions } from '../budget-options.js'
import {
  addAgentOptions,
  type AgentOptions,
  type JsonOption,
  type OutputMode,
  outputOption,
  permissionsOption,
  toSeconds,
} from '../command-definition.js'
import { withOffer } from '../adapters/with-offer.js'
import { withGateway } from '../in-process.js'
import { startSteps, withNextStep } from '../next-steps.js'
import { readInstructions, readPrompt } from '../prompt/prompt-text.js'
import { unattendedNote } from '../turn/request-answerer.js'
import { driveTurn } from '../turn/drive-turn.js'
import { TurnLimits } from '../turn/turn-limits.js'
import { commandLine } from '../usage-errors/command-line.js'

const HELP = `
Examples:
  $ agentproto run demo --prompt "hello"
  $ git diff | agentproto run demo -                     read the prompt from stdin
  $ agentproto run demo --prompt "write a.txt" --permissions approve-all
  $ agentproto run demo --prompt "hello" --output jsonl  print each event

With --permissions ask (the default), a terminal shows each request and a key answers it. Without a terminal requests
are denied and the exit code is 5. The answer goes to stdout while it is written, everything else to stderr.`

interface RunOptions extends AgentOptions, LimitOptions, JsonOption {
  readonly prompt?: string
  readonly output: OutputMode
  readonly timeout?: number
}

export function define(command: CliCommand): void {
  command
    .description('send one prompt to a new agent, without a gateway')
    .argument('<adapter>', 'slug of the adapter; see: agentproto adapters list')
    .argument('[prompt]', 'the prompt; - reads it from stdin')
    .option('-p, --prompt <text>', 'the prompt; - reads it from stdin')
    .option('--cwd <folder>', 'folder to run in (default: this one)')
  addLimitOptions(addAgentOptions(command, permissionsOption().default('ask')))
    .addOption(outputOption())
    .json('the same as --output json')
    .option('--timeout <seconds>', 'interrupt after this time and exit with 3', toSeconds)
    .addHelpText('after', HELP)
    .run(runOnce)
}

/**
 * The agent runs on a gateway inside this process that stores nothing. Everything that can be refused is refused before
 * an agent is started (F69).
 */
async function runOnce(
  context: CliContext,
  ...[adapter, argument, options]: [string, string | undefined, RunOptions]
): Promise<void> {
  const prompt = await readPrompt(context, options.prompt ?? argument, `agentproto run ${adapter} --prompt "hello"`)
  const { cwd = '.', envelope, mode, option, permissions, continuation, timeout } = options
  const request = {
    adapter,
    cwd: resolve(context.cwd, cwd),
    options: option,
    permissionMode: permissions ?? 'ask',
    ...limitsOf(options),
    ...defined({ envelope, mode, continuation, instructions: await readInstructions(context, options.instructions) }),
  }
  const output = options.json === true ? 'json' : options.output
  const note = unattendedNote(context, request.permissionMode)
  if (note !== undefined && output === 'text') warn(context, note)
  const limits = new TurnLimits(timeout)
  try {
    return await withGateway(context, async (client) => {
      const session = await withOffer(context, adapter, () =>
        withNextStep(startSteps(adapter), () => limits.race(() => client.sessions.start(request))),
      )
      for (const warning of session.warnings) warn(context, warning)
      const text = typeof prompt === 'string' ? prompt : '-'
      const detailsCommand = commandLine(['run', adapter, '--prompt', text, '--output', 'jsonl'])
      const turn = driveTurn(context, { client, session, prompt, output, limits, detailsCommand })
      return turn.catch(async (thrown: unknown) => {
        throw thrown === limits.stoppedBy ? thrown : await withItsLimit(client, session.id, thrown)
      })
    })
  } finally {
    // Kept until the gateway has closed: a signal before that must not leave agents behind.
    limits.release()
  }
}

/** A limit interrupts the turn and ends the session, whose record says which limit that was. */
async function withItsLimit({ sessions }: Client, id: string, thrown: unknown): Promise<unknown> {
  if (!isAgentprotoError(thrown) || thrown.code !== 'cancelled') return thrown
  await sessions.kill(id)
  switch ((await sessions.get(id)).stopReason) {
    case 'budget_exceeded':
      return new AgentprotoError('budget_exceeded', 'The budget of the run is used up', {
        hint: 'Allow more with --budget-cost, --budget-tokens or --budget-minutes',
      })
    case 'loop_detected':
      return new AgentprotoError('prompt_failed', 'The agent repeated the same call with the same result', {
        hint: 'Allow more with --loop-stop',
      })
    default:
      return thrown
  }
}
