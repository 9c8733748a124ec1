import { resolve } from 'node:path'
import type { SpawnAgentRequest } from '@agentproto/contracts'
import { withGateway } from '../in-process.js'
import { print, type Io } from '../io.js'
import { agentSteps, orNextStep } from '../next-step.js'
import { instructionsOf } from '../prompt/instructions-text.js'
import type { AgentOptions } from '../program/option-values.js'
import { promptOf } from '../prompt/prompt-text.js'
import { driveTurn } from '../turn/drive-turn.js'
import { TurnLimits } from '../turn/turn-limits.js'
import type { OutputMode } from '../turn/turn-output.js'

export interface RunOptions extends AgentOptions {
  readonly prompt?: string
  readonly json?: boolean
  readonly output: OutputMode
  readonly timeout?: number
}

/**
 * `agentproto run`: one prompt in an agent of its own, on a gateway inside this process that keeps nothing.
 * Everything that can be refused is, before an agent is started (F69).
 */
export async function runOnce(io: Io, adapter: string, options: RunOptions): Promise<number> {
  const prompt = await promptOf(io, options.prompt)
  const request = { ...spawnRequest(io, adapter, options), ...(await instructionsOf(io, options.instructions)) }
  const limits = new TurnLimits(options.timeout)
  try {
    return await withGateway(io, async (client) => {
      const session = await orNextStep(agentSteps(adapter), () => limits.during(() => client.sessions.start(request)))
      for (const warning of session.warnings) print(io.stderr, `agentproto: ${warning}`)
      const seeMore = `agentproto run ${adapter} --output jsonl`
      return driveTurn(io, { client, session, prompt, output: options.output, limits, seeMore })
    })
  } finally {
    // Kept until the gateway has closed: a signal then must not leave agents behind.
    limits.release()
  }
}

function spawnRequest(
  io: Io,
  adapter: string,
  { cwd, mode, option, permissions, continuation }: RunOptions,
): SpawnAgentRequest {
  return {
    adapter,
    cwd: resolve(io.cwd, cwd ?? '.'),
    ...(mode === undefined ? {} : { mode }),
    ...(Object.keys(option).length === 0 ? {} : { options: option }),
    permissionMode: permissions ?? 'ask',
    ...(continuation === undefined ? {} : { continuation }),
  }
}
