import { closeSync, openSync, readSync, renameSync, statSync } from 'node:fs'
import type { HomeLayout } from '@agentproto/contracts'

/** What a gateway in the background says; one generation is kept beside it. */
export const daemonLog = ({ logs }: HomeLayout): string => `${logs}/daemon.log`

/** What any gateway of the home notes, one JSON document a line; it rotates it itself. */
export const gatewayLog = ({ logs }: HomeLayout): string => `${logs}/gateway.jsonl`

const ROTATE_BYTES = 4 * 1024 * 1024
/** Enough for some thousand lines. */
const TAIL_BYTES = 512 * 1024

/** Before a start: a log that has grown is put aside. */
export function rotateLog(path: string): void {
  if (sizeOf(path) > ROTATE_BYTES) renameSync(path, `${path}.1`)
}

/** The last lines of a file's first bytes, as far as half a megabyte holds them; none where there is no file. */
export function tailOf(path: string, lines: number, size = sizeOf(path)): string[] {
  const text = readFrom(path, 0, size).trimEnd()
  return text === '' || lines === 0 ? [] : text.split('\n').slice(-lines)
}

/** 0 where there is no file. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** The bytes from one place to another, as text; of more than half a megabyte the last half. */
export function readFrom(path: string, from: number, to: number): string {
  let file: number
  try {
    file = openSync(path, 'r')
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw thrown
  }
  try {
    const bytes = Buffer.alloc(Math.min(to - from, TAIL_BYTES))
    const read = readSync(file, bytes, 0, bytes.length, to - bytes.length)
    return bytes.subarray(0, read).toString('utf8')
  } finally {
    closeSync(file)
  }
}
