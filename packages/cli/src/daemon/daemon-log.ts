import { closeSync, openSync, readSync, renameSync, statSync } from 'node:fs'
import type { HomeLayout } from '@agentproto/contracts/agent'

/** stdout and stderr of a gateway in the background. One older file is kept beside it. */
export const daemonLog = ({ logs }: HomeLayout): string => `${logs}/daemon.log`

/** The structured log of the gateway, one JSON document per line. The gateway rotates it. */
export const gatewayLog = ({ logs }: HomeLayout): string => `${logs}/gateway.jsonl`

const ROTATE_BYTES = 4 * 1024 * 1024
/** Some thousand lines. */
const TAIL_BYTES = 512 * 1024

/** Renames a log that has grown too large, before the gateway starts. */
export function rotateLog(path: string): void {
  if (sizeOf(path) > ROTATE_BYTES) renameSync(path, `${path}.1`)
}

/** The last lines of the first `size` bytes of a file, at most half a megabyte. Empty when there is no file. */
export function tailOf(path: string, lines: number, size = sizeOf(path)): string[] {
  const text = readFrom(path, 0, size).trimEnd()
  return text === '' || lines === 0 ? [] : text.split('\n').slice(-lines)
}

/** 0 when there is no file. */
export function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}

/** The bytes between two offsets as text; of more than half a megabyte, the last half. */
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
