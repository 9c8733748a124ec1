import { realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join, resolve, sep } from 'node:path'
import type {
  AgentAnswer,
  AgentRequest,
  PermissionMode,
  PermissionOption,
  PermissionRequest,
} from '@agentproto/contracts'

/** What a permission mode answers by itself, and why. */

export interface PolicyAnswer {
  readonly answer: AgentAnswer
  readonly rule: string
}

/** @returns undefined when a person has to be asked */
export async function answerByPolicy(
  request: AgentRequest,
  mode: PermissionMode,
  roots: readonly string[],
): Promise<PolicyAnswer | undefined> {
  if (request.kind === 'question')
    return mode === 'deny-all' ? { answer: { outcome: 'decline' }, rule: mode } : undefined
  switch (mode) {
    case 'ask':
      return undefined
    case 'deny-all':
      return { answer: denial(request), rule: mode }
    case 'approve-all':
      return approve(request, mode)
    case 'approve-reads':
      return (await readsInside(request, roots)) ? approve(request, mode) : undefined
  }
}

/** The answer that says no: the agent's own way of refusing once, else a cancellation. */
export function denial(request: AgentRequest): AgentAnswer {
  if (request.kind === 'question') return { outcome: 'decline' }
  const option = optionOf(request, 'reject_once') ?? optionOf(request, 'reject_always')
  return option === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option.optionId }
}

/**
 * Allow-once is never raised to allow-always. Leaving a plan is a decision about everything that follows,
 * so no mode makes it.
 */
function approve(request: PermissionRequest, rule: string): PolicyAnswer | undefined {
  if (request.toolCall.kind === 'switch_mode') return undefined
  const option = optionOf(request, 'allow_once')
  return option && { answer: { outcome: 'selected', optionId: option.optionId }, rule }
}

const optionOf = (request: PermissionRequest, kind: PermissionOption['kind']): PermissionOption | undefined =>
  request.options.find((option) => option.kind === kind)

/** A read is one by the tool's kind and its locations, all inside the session's ground; titles prove nothing. */
async function readsInside({ toolCall }: PermissionRequest, roots: readonly string[]): Promise<boolean> {
  if (toolCall.kind !== 'read' && toolCall.kind !== 'search') return false
  const locations = toolCall.locations ?? []
  if (locations.length === 0) return false
  for (const { path } of locations) {
    if (!(await isInside(path, roots))) return false
  }
  return true
}

/** Whether a path, symlinks resolved, lies in one of the roots (which are resolved already). */
async function isInside(path: string, roots: readonly string[]): Promise<boolean> {
  const [first] = roots
  if (path.includes('\0') || first === undefined) return false
  const real = await realOrParent(isAbsolute(path) ? resolve(path) : resolve(first, path))
  return roots.some((root) => real === root || real.startsWith(root.endsWith(sep) ? root : root + sep))
}

/** Resolves what exists of a path; the rest of it (a file to be made) cannot be a link. */
async function realOrParent(path: string): Promise<string> {
  try {
    return await realpath(path)
  } catch {
    const parent = dirname(path)
    return parent === path ? path : join(await realOrParent(parent), path.slice(parent.length))
  }
}
