import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { connect } from 'node:net'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

export const PROGRAM = fileURLToPath(new URL('../bin/agentproto-keeper.mjs', import.meta.url))

/** A folder of a keeper that does not exist yet. */
export function keeperFolder(name = 'keeper'): string {
  const home = mkdtempSync(`${tmpdir()}/k-`)
  onTestFinished(() => rmSync(home, { recursive: true, force: true }))
  return `${home}/${name}`
}

/** Starts the program itself, without the client. */
export async function startProgram(folder: string, bounds: object = {}) {
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const child = spawn(process.execPath, [PROGRAM, folder, JSON.stringify(bounds)], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const [word]: unknown[] = await once(child.stdout, 'data')
  return {
    child,
    word: String(word).trim(),
    secret: readFileSync(`${folder}/secret`, 'latin1'),
    ended,
    connect: (): Promise<Socket> => connected(`${folder}/1.sock`),
    destroy: async (): Promise<void> => {
      child.kill('SIGTERM')
      await ended
    },
  }
}

export async function connected(path: string): Promise<Socket> {
  const socket = connect(path)
  await once(socket, 'connect')
  return socket
}
