import { open, rm, type FileHandle } from 'node:fs/promises'
import { resolve } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { AgentprotoError, isAgentprotoError } from '@agentproto/contracts'
import { Option } from 'commander'
import type { Define } from '../../cli-command.js'
import { print, raw, type CliContext } from '../../cli-context.js'
import { printable } from '../../render/printable.js'
import { openSession } from '../../session-ref.js'

interface ExportOptions {
  readonly format: 'jsonl' | 'json' | 'md'
  readonly output?: string
  readonly force?: boolean
}

export const define: Define = (command) =>
  command
    .description('export a session with its log, to archive, to import elsewhere, or to read')
    .argument('<id>')
    .addOption(
      new Option('--format <format>', 'jsonl or json for an import, md to read')
        .choices(['jsonl', 'json', 'md'])
        .default('jsonl'),
    )
    .option('-o, --output <file>', 'write a new file (default: stdout)')
    .option('--force', 'overwrite an existing file')
    .examples('sessions export try -o try.jsonl', 'sessions export try --format md')
    .run(exportSession)

async function exportSession(
  context: CliContext,
  ref: string,
  { format, output, force = false }: ExportOptions,
): Promise<void> {
  const { client, session } = await openSession(context, ref)
  const exported = Readable.from(client.archive.export(session.id, format))
  const isRead = format === 'md' || (output === undefined && context.stdout.isTTY === true)
  const pieces = isRead ? exported.map(printable) : exported
  if (output === undefined) return pipeline(pieces, raw(context.stdout), { end: false })
  const path = resolve(context.cwd, output)
  const file = await createFile(path, force)
  try {
    await pipeline(pieces, file.createWriteStream())
  } catch (cause) {
    // A part of an export must not look like a whole one.
    await rm(path, { force: true })
    if (isAgentprotoError(cause)) throw cause
    throw new AgentprotoError('storage_failed', `${path} cannot be written`, { given: messageOf(cause), cause })
  }
  print(context.stderr, `Exported ${session.id} to ${output}.`)
}

/** @throws `path_invalid` */
async function createFile(path: string, force: boolean): Promise<FileHandle> {
  try {
    return await open(path, force ? 'w' : 'wx', 0o600)
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST')
      throw new AgentprotoError('path_invalid', `${path} already exists`, {
        hint: 'Choose another file, or overwrite it with --force',
        cause,
      })
    throw new AgentprotoError('path_invalid', `${path} cannot be written`, {
      given: messageOf(cause),
      hint: 'Choose another file with --output',
      cause,
    })
  }
}

const messageOf = (thrown: unknown): string => (thrown instanceof Error ? thrown.message : String(thrown))
