import { realpath } from 'node:fs/promises'
import { isAbsolute, relative, sep } from 'node:path'
import type { Client } from '@agentproto/client'
import type { Session } from '@agentproto/contracts'
import type { CliContext } from './cli-context.js'
import { isOwnGateway } from './daemon/connect.js'

/** Where a session starts whose command names no place, and the sentence that says so afterwards. */
export interface StartFolder {
  readonly place: { readonly cwd?: string }
  /** From what the gateway has done. */
  note(session: Pick<Session, 'cwd' | 'workspaceSlug'>): string
}

/**
 * Where a session starts whose command names neither a folder nor a workspace: in the user's folder when a workspace
 * contains it, as with `run`; else in the active workspace; else in the user's folder, and not in that of the gateway
 * (F96).
 */
export async function startFolder(context: CliContext, client: Client): Promise<StartFolder> {
  const { active, workspaces } = await client.workspaces.list()
  // Another gateway may be on another machine, whose folders are not those of this one, even with the same names.
  if ((await isOwnGateway(context)) && (await isInOneOf(workspaces, context.cwd)))
    return { place: { cwd: context.cwd }, note: ({ cwd, workspaceSlug }) => `it runs in ${cwd} (${workspaceSlug})` }
  if (active !== undefined)
    return { place: {}, note: ({ cwd, workspaceSlug }) => `it runs in ${cwd}, the active workspace (${workspaceSlug})` }
  const hint = 'To add one: agentproto workspace add . --use'
  return { place: { cwd: context.cwd }, note: ({ cwd }) => `no workspace is active; it runs in ${cwd}. ${hint}` }
}

async function isInOneOf(workspaces: readonly { readonly path: string }[], folder: string): Promise<boolean> {
  const real = await realIfAny(folder)
  for (const { path } of workspaces) if (isWithin(real, await realIfAny(path))) return true
  return false
}

const realIfAny = (path: string): Promise<string> => realpath(path).catch(() => path)

function isWithin(path: string, folder: string): boolean {
  const step = relative(folder, path)
  return step === '' || (step !== '..' && !step.startsWith(`..${sep}`) && !isAbsolute(step))
}
