import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { processesMarked } from '../../tooling/process-table.ts'

/** Ends the keepers of the homes in a folder, with their agents: a killed gateway leaves them to the next one. */
export async function endKeepers(folder: string): Promise<void> {
  for (const { pid } of keepersIn(folder)) end(pid)
  while (keepersIn(folder).length > 0) await sleep(20)
}

/** Kills them at once: the pipes of their agents break. */
export function killKeepers(folder: string): void {
  for (const { pid } of keepersIn(folder)) process.kill(pid, 'SIGKILL')
}

const keepersIn = (folder: string): readonly { readonly pid: number }[] =>
  processesMarked(join(folder, '')).filter(({ commandLine }) => commandLine.includes('agentproto-keeper.mjs'))

function end(pid: number): void {
  try {
    process.kill(pid, 'SIGTERM')
  } catch {
    // It has ended since it was found.
  }
}
