import { createWriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { finished } from 'node:stream/promises'
import { text } from 'node:stream/consumers'
import { AgentprotoError, EXIT } from '@agentproto/contracts'
import { connect } from '../daemon.js'
import { print, printJson, type Io } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { findSession } from '../session-ref.js'

export interface ExportOptions {
  readonly format: 'jsonl' | 'json' | 'md'
  readonly output?: string
}

/** `agentproto sessions export`: to stdout, or into a file that must not be there yet. */
export async function exportSession(io: Io, ref: string, { format, output }: ExportOptions): Promise<number> {
  const client = await connect(io)
  const { id } = await findSession(client, ref)
  const pieces = client.archive.export(id, format)
  if (output === undefined) {
    for await (const piece of pieces) await written(io.stdout, piece)
    return EXIT.ok
  }
  const file = createWriteStream(output, { flags: 'wx', mode: 0o600 })
  try {
    for await (const piece of pieces) await written(file, piece)
    file.end()
    await finished(file)
  } catch (cause) {
    file.destroy()
    if (cause instanceof AgentprotoError) throw cause
    throw new AgentprotoError('invalid_request', `${output} could not be written`, { given: String(cause), cause })
  }
  print(io.stderr, `${output} has session ${id}.`)
  return EXIT.ok
}

/** Waits for whoever is slow behind a pipe. */
async function written(stream: NodeJS.WritableStream, piece: string): Promise<void> {
  if (stream.write(piece)) return
  await new Promise<void>((resolve, reject) => {
    stream.once('drain', resolve)
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
