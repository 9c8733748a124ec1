import type { Launch } from '@agentproto/contracts/agent'
import { findExecutable } from '@agentproto/subprocess'
import type { ConfinementProfile } from './sandbox-provider.js'

export interface LimitedLaunch {
  readonly launch: Launch
  /** Limits of the profile that cannot be enforced here. */
  readonly warnings: readonly string[]
}

/**
 * Applies `limits.memory_mb` and `limits.cpu_ms` to a launch with prlimit(1), which replaces itself with the agent. The
 * kernel counts them separately for each process of the tree. The driver enforces `timeout_ms`.
 */
export async function limitLaunch(
  launch: Launch,
  { memoryMb, cpuMs }: ConfinementProfile['limits'],
): Promise<LimitedLaunch> {
  // Not the address space: V8 reserves far more than it uses.
  const flags = [
    ...(memoryMb === undefined ? [] : [`--data=${memoryMb * 1024 * 1024}`]),
    // SIGXCPU, and SIGKILL five seconds later.
    ...(cpuMs === undefined ? [] : [`--cpu=${Math.ceil(cpuMs / 1000)}:${Math.ceil(cpuMs / 1000) + 5}`]),
  ]
  if (flags.length === 0) return { launch, warnings: [] }
  // Not the agent's PATH: it runs outside of the sandbox.
  const file = await findExecutable('prlimit', { path: process.env['PATH'] ?? '' })
  if (file !== undefined)
    return { launch: { ...launch, command: file, args: [...flags, launch.command, ...launch.args] }, warnings: [] }
  return {
    launch,
    warnings: [`limits.memory_mb and limits.cpu_ms are not enforced: this host (${process.platform}) has no prlimit`],
  }
}
