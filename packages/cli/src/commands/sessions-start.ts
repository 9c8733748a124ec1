import { resolve } from 'node:path'
import { EXIT, type SpawnAgentRequest } from '@agentproto/contracts'
import type { Client } from '@agentproto/client'
import { connect } from '../daemon/daemon.js'
import { instructionsOf } from '../prompt/instructions-text.js'
import { isInteractive, print, printJson, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { agentSteps, orNextStep } from '../next-step.js'
import type { AgentOptions } from '../program/option-values.js'
import { withProgress } from '../progress.js'
import { promptOf } from '../prompt/prompt-text.js'

export interface StartOptions extends AgentOptions, JsonOption {
  readonly prompt?: string
  readonly workspace?: string
  readonly label?: string
  readonly attach?: boolean
  readonly delegate?: boolean
}

/** `agentproto sessions start`: prints the id of the new session. */
export async function startSession(io: Io, adapter: string, options: StartOptions): Promise<number> {
  const request = await spawnRequest(io, adapter, options)
  const client = await connect(io)
  const session = await orNextStep(agentSteps(adapter), () =>
    withProgress(io, `Starting ${adapter}`, async () =>
      client.sessions.start({ ...request, ...(await folderOf(io, client, request)) }),
    ),
  )
  for (const warning of session.warnings) print(io.stderr, `agentproto: ${warning}`)
  if (options.json === true) printJson(io, session)
  else print(io.stdout, session.id)
  if (options.attach === true && isInteractive(io))
    return (await import('./sessions-attach.js')).attachSession(io, session.id)
  return EXIT.ok
}

/**
 * A folder for a session that names none and has no active workspace: the one that the person is in, and not the one
 * that the gateway was started in (F96).
 */
async function folderOf(io: Io, client: Client, { cwd, workspaceSlug }: SpawnAgentRequest): Promise<{ cwd?: string }> {
  if (cwd !== undefined || workspaceSlug !== undefined) return {}
  const { active } = await client.workspaces.list()
  if (active !== undefined) return {}
  print(
    io.stderr,
    `agentproto: it runs in ${io.cwd}, as no workspace is active. Name one: agentproto workspace add --use`,
  )
  return { cwd: io.cwd }
}

async function spawnRequest(io: Io, adapter: string, options: StartOptions): Promise<SpawnAgentRequest> {
  const { prompt, cwd, workspace, label, mode, option, permissions, continuation, delegate } = options
  return {
    adapter,
    ...(prompt === undefined ? {} : { prompt: await promptOf(io, prompt) }),
    ...(cwd === undefined ? {} : { cwd: resolve(io.cwd, cwd) }),
    ...(workspace === undefined ? {} : { workspaceSlug: workspace }),
    ...(label === undefined ? {} : { label }),
    ...(await instructionsOf(io, options.instructions)),
    ...(mode === undefined ? {} : { mode }),
    ...(Object.keys(option).length === 0 ? {} : { options: option }),
    ...(permissions === undefined ? {} : { permissionMode: permissions }),
    ...(continuation === undefined ? {} : { continuation }),
    ...(delegate === true ? { delegation: {} } : {}),
  }
}
