import type { Stats } from 'node:fs'
import { accessSync, constants, openSync, readSync, realpathSync, closeSync, statSync } from 'node:fs'
import { isAbsolute } from 'node:path'
import { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
import type { Launch } from '@agentproto/contracts/agent'

/**
 * Refuses a launch that cannot work: the kernel reports ENOENT for several different reasons.
 * @throws `cwd_invalid`, `agent_not_installed`, `spawn_failed`
 */
export function checkLaunch({ command, cwd, additionalDirectories = [] }: Launch): void {
  checkFolder(cwd, 'working directory')
  for (const path of additionalDirectories) checkFolder(path, 'additional directory')
  if (!isAbsolute(command))
    throw new AgentprotoError('spawn_failed', 'The path of the executable is not absolute', { given: command })
  const file = statOf(command, (code) => cannotLook(code, command))
  if (!file) {
    throw new AgentprotoError('agent_not_installed', 'The executable does not exist', {
      given: command,
      hint: 'Install the agent, or name its executable.',
    })
  }
  if (!file.isFile()) throw new AgentprotoError('spawn_failed', 'The executable is not a file', { given: command })
}

/**
 * Refuses what is not the real path of an existing folder: another path could lead elsewhere than its caller has checked.
 * @param what the folder in messages, such as `working directory`
 * @throws `cwd_invalid`
 */
export function checkFolder(path: string, what: string): void {
  if (path.includes('\0')) throw cwdInvalid(`The ${what} contains a NUL character`, path)
  if (!isAbsolute(path)) throw cwdInvalid(`The ${what} is not absolute`, path)
  const folder = statOf(path, (code) => cwdInvalid(`The ${what} cannot be read (${code})`, path))
  if (!folder) throw cwdInvalid(`The ${what} does not exist`, path)
  if (!folder.isDirectory()) throw cwdInvalid(`The ${what} is not a directory`, path)
  if (realpathSync(path) !== path) throw cwdInvalid(`The ${what} leads elsewhere than when it was resolved`, path)
}

/** Maps the error of a spawn to its reason. */
export function spawnFailure(thrown: unknown, { command }: Launch): AgentprotoError {
  if (isAgentprotoError(thrown)) return thrown
  const code = errorCode(thrown)
  return new AgentprotoError('spawn_failed', reason(code, command) ?? message(thrown), {
    given: command,
    cause: thrown,
    ...(code === undefined ? {} : { data: { errno: code } }),
  })
}

function reason(code: string | undefined, command: string): string | undefined {
  if (code === 'ENOENT')
    return `The executable exists, but its interpreter does not: ${interpreter(command) ?? 'unknown'}`
  if (code === 'EACCES') {
    return executable(command)
      ? 'The executable is not allowed to run here'
      : 'The executable has no permission to be executed (chmod +x)'
  }
  return code === undefined ? undefined : REASONS[code]
}

const NO_ROOM = 'The system cannot start another process (out of memory, processes or file descriptors)'
const REASONS: Readonly<Record<string, string>> = {
  ENOEXEC: 'The executable has a format that this system cannot run',
  E2BIG: 'The arguments and the environment are too long',
  EAGAIN: NO_ROOM,
  ENOMEM: NO_ROOM,
  EMFILE: NO_ROOM,
  ENFILE: NO_ROOM,
}

/** What a script's first line names. */
function interpreter(command: string): string | undefined {
  try {
    const file = openSync(command, 'r')
    try {
      const start = Buffer.alloc(256)
      const line = start.toString('utf8', 0, readSync(file, start, 0, start.length, 0)).split('\n', 1)[0] ?? ''
      return line.startsWith('#!') ? line.slice(2).trim() : undefined
    } finally {
      closeSync(file)
    }
  } catch {
    return undefined
  }
}

function executable(command: string): boolean {
  try {
    accessSync(command, constants.X_OK)
    return true
  } catch {
    return false
  }
}

export const cwdInvalid = (what: string, cwd: string): AgentprotoError =>
  new AgentprotoError('cwd_invalid', what, { expected: 'the real path of an existing directory', given: cwd })

const cannotLook = (code: string, command: string): AgentprotoError =>
  new AgentprotoError('spawn_failed', `The executable cannot be read (${code})`, { given: command })

/** Undefined when there is no such file. @throws `failure` of the system's code, such as EACCES or ENAMETOOLONG */
function statOf(path: string, failure: (code: string) => AgentprotoError): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false })
  } catch (thrown) {
    throw failure(errorCode(thrown) ?? 'unknown')
  }
}

const message = (thrown: unknown): string =>
  thrown instanceof Error ? `The agent could not be spawned: ${thrown.message}` : 'The agent could not be spawned'

const errorCode = (thrown: unknown): string | undefined =>
  thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined
