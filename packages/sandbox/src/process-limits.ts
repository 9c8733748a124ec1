import type { Launch } from '@agentproto/contracts'
import { findExecutable } from '@agentproto/subprocess'
import type { ConfinementProfile } from './sandbox-provider.js'

export interface LimitedLaunch {
  readonly launch: Launch
  /** Limits of the profile that do not hold here. */
  readonly warnings: readonly string[]
}

/**
 * Puts `limits.memory_mb` and `limits.cpu_ms` on a launch by prlimit(1), which replaces itself by the agent. The
 * kernel counts them for each process of the tree by itself; `timeout_ms` is the driver's.
 */
export async function limitLaunch(
  launch: Launch,
  { memoryMb, cpuMs }: ConfinementProfile['limits'],
): Promise<LimitedLaunch> {
  // Not the address space: V8 reserves many times what it uses.
  const flags = [
    ...(memoryMb === undefined ? [] : [`--data=${memoryMb * 1024 * 1024}`]),
    // SIGXCPU, and SIGKILL five seconds later.
    ...(cpuMs === undefined ? [] : [`--cpu=${Math.ceil(cpuMs / 1000)}:${Math.ceil(cpuMs / 1000) + 5}`]),
  ]
  if (flags.length === 0) return { launch, warnings: [] }
  const file = await findExecutable('prlimit', { path: launch.env['PATH'] ?? '' })
  if (file !== undefined)
    return { launch: { ...launch, command: file, args: [...flags, launch.command, ...launch.args] }, warnings: [] }
  return {
    launch,
    warnings: [`limits.memory_mb and limits.cpu_ms do not hold: ${process.platform} here has no prlimit`],
  }
}
