import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { AgentprotoError } from '@agentproto/contracts'
import type { CommandResult, Define } from '../../cli-command.js'
import { print, type CliContext } from '../../cli-context.js'
import { connect } from '../../daemon/connect.js'

export const define: Define = (command) =>
  command
    .description('import an export (jsonl or json) and print the id of the session')
    .argument('<file>', '- reads it from stdin')
    .json('print the session as JSON')
    .examples('sessions import try.jsonl')
    .run(importSession)

async function importSession(context: CliContext, file: string): Promise<CommandResult> {
  const content = file === '-' ? await text(context.stdin) : await readFile(file, 'utf8').catch(cannotRead)
  const session = await (await connect(context)).archive.import(content)
  const { imported } = session
  if (imported !== undefined && imported.id !== session.id)
    print(context.stderr, `The id ${imported.id} is in use here; the new id is ${session.id}.`)
  return { json: session, text: session.id }
}

function cannotRead(cause: NodeJS.ErrnoException): never {
  throw new AgentprotoError('path_invalid', `${cause.path ?? 'The file'} cannot be read`, {
    given: cause.message,
    cause,
  })
}
