import { open, readFile, rm, type FileHandle } from 'node:fs/promises'
import { resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { AgentprotoError, EXIT, isAgentprotoError } from '@agentproto/contracts'
import { connect } from '../daemon/daemon.js'
import { print, printJson, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { findSession } from '../session-ref.js'

export interface ExportOptions {
  readonly format: 'jsonl' | 'json' | 'md'
  readonly output?: string
  readonly force?: boolean
}

/** `agentproto sessions export`: to stdout, or into a file that must not be there yet, unless it is `--force`. */
export async function exportSession(
  io: Io,
  ref: string,
  { format, output, force = false }: ExportOptions,
): Promise<number> {
  const client = await connect(io)
  const { id } = await findSession(client, ref)
  const pieces = client.archive.export(id, format)
  if (output === undefined) {
    for await (const piece of pieces) await written(io.stdout, piece)
    return EXIT.ok
  }
  const path = resolve(io.cwd, output)
  const file = await created(path, force)
  try {
    for await (const piece of pieces) await file.writeFile(piece)
    await file.close()
  } catch (cause) {
    await file.close().catch(() => undefined)
    // A piece of an export would be taken for one.
    await rm(path, { force: true })
    if (isAgentprotoError(cause)) throw cause
    throw new AgentprotoError('storage_failed', `${path} could not be written`, { given: messageOf(cause), cause })
  }
  print(io.stderr, `${output} has session ${id}.`)
  return EXIT.ok
}

/** @throws `path_invalid` */
async function created(path: string, force: boolean): Promise<FileHandle> {
  try {
    return await open(path, force ? 'w' : 'wx', 0o600)
  } catch (cause) {
    const there = (cause as NodeJS.ErrnoException).code === 'EEXIST'
    throw new AgentprotoError('path_invalid', there ? `${path} is there already` : `${path} cannot be written`, {
      ...(there ? {} : { given: messageOf(cause) }),
      hint: there ? 'Name another file, or write over it with --force' : 'Name another file with --output',
      cause,
    })
  }
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))

/** Waits for whoever is slow behind a pipe. */
async function written(stream: NodeJS.WritableStream, piece: string): Promise<void> {
  if (stream.write(piece)) return
  await new Promise<void>((drained, reject) => {
    stream.once('drain', drained)
    stream.once('error', reject)
  })
}

/** `agentproto sessions import`: prints the id that the session has here. */
export async function importSession(io: Io, file: string, { json }: JsonOption): Promise<number> {
  const given =
    file === '-'
      ? await text(io.stdin)
      : await readFile(file, 'utf8').catch((cause: unknown) => {
          throw new AgentprotoError('path_invalid', `${file} cannot be read`, { given: String(cause), cause })
        })
  const session = await (await connect(io)).archive.import(given)
  if (json === true) printJson(io, session)
  else print(io.stdout, session.id)
  const { imported } = session
  if (imported !== undefined && imported.id !== session.id)
    print(io.stderr, `Its id ${imported.id} was taken here; it is ${session.id} now.`)
  return EXIT.ok
}
