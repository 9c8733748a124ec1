import { lstatSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { asNumber, asRecord, asString, type Clock, parseJson } from '@agentproto/contracts'
import {
  endProcesses,
  findMarkedProcesses,
  hasSurelyEnded,
  type RecordedProcess,
  recordedProcess,
} from '@agentproto/subprocess'
import { removeFolder } from './remove-folder.js'

/**
 * Folders that are there only while one process works in them. Which process that is stands in a file beside the folder, so that what a
 * killed one left is known at once, and what a living one uses, also one that was frozen, is left alone.
 */

/** Follows the name of the folder. */
export const OWNER = '.owner'

/** Who has a folder. Where the system does not say enough of processes, or another machine wrote it, its owner is unknown. */
export interface FolderOwner {
  readonly is: 'living' | 'ended' | 'unknown'
  /** Of the processes that have to do with the folder. */
  readonly marker?: string
}

/** Says that this process has a folder. Before there is one: it is never there without its owner. */
export async function own(path: string, marker = ''): Promise<void> {
  const process = recordedProcess()
  if (process === undefined) return
  try {
    await writeFile(`${path}${OWNER}`, JSON.stringify({ ...process, marker }), { mode: 0o600 })
  } catch (thrown) {
    // On a full disk there is an empty file by now.
    await disown(path)
    throw thrown
  }
}

/** Says that a folder has no owner any more. */
export const disown = (path: string): Promise<void> => rm(`${path}${OWNER}`, { force: true })

/** Makes a folder of this process. */
export async function makeOwned(path: string, marker?: string): Promise<void> {
  await own(path, marker)
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (thrown) {
    await disown(path)
    throw thrown
  }
}

/** Removes a folder, and only then what says whose it is. */
export async function removeOwned(path: string): Promise<void> {
  await removeFolder(path)
  await disown(path)
}

/** Removes a folder of a process that has ended, with what that one left running. */
export async function removeLeftFolder(path: string, { marker }: FolderOwner, clock: Clock): Promise<void> {
  const left = marker === undefined ? [] : findMarkedProcesses(marker)
  if (left.length > 0) await endProcesses(left, { termGraceMs: 1_000 }, clock)
  await removeOwned(path)
}

/** Who has a folder. */
export function ownerOf(path: string): FolderOwner {
  const { process, marker = '' } = recordOf(`${path}${OWNER}`)
  if (process === undefined) return { is: 'unknown' }
  const known = marker === '' ? {} : { marker }
  if (hasSurelyEnded(process)) return { is: 'ended', ...known }
  return { is: process.kernel === recordedProcess()?.kernel ? 'living' : 'unknown', ...known }
}

/** Others can write beside a folder of temporary files: only a small file of this user counts. */
function recordOf(path: string): { readonly process?: RecordedProcess; readonly marker?: string } {
  try {
    const state = lstatSync(path)
    if (!state.isFile() || state.size > RECORD_BYTES || state.uid !== (process.getuid?.() ?? state.uid)) return {}
    const { pid, startTime, kernel, marker } = asRecord(parseJson(readFileSync(path, 'utf8')))
    const found = { pid: asNumber(pid) ?? -1, startTime: asString(startTime) ?? '', kernel: asString(kernel) ?? '' }
    return { process: found, marker: asString(marker) ?? '' }
  } catch {
    return {}
  }
}

const RECORD_BYTES = 4_096
