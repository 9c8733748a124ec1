import { readFile } from 'node:fs/promises'
import { text } from 'node:stream/consumers'
import { AgentprotoError } from '@agentproto/contracts'
import type { Command } from 'commander'
import { print, printJson, type CliContext } from '../../cli-context.js'
import { examples, type JsonOption, type Run } from '../../command-definition.js'
import { connect } from '../../daemon/connect.js'

export function define(command: Command, run: Run): void {
  command
    .description('import an export (jsonl or json) and print the id of the session')
    .argument('<file>', '- reads it from stdin')
    .option('--json', 'print the session as JSON')
    .addHelpText('after', examples('sessions import try.jsonl'))
    .action(run(importSession))
}

async function importSession(context: CliContext, file: string, { json }: JsonOption): Promise<void> {
  const content = file === '-' ? await text(context.stdin) : await readFile(file, 'utf8').catch(cannotRead)
  const session = await (await connect(context)).archive.import(content)
  if (json === true) printJson(context, session)
  else print(context.stdout, session.id)
  const { imported } = session
  if (imported !== undefined && imported.id !== session.id)
    print(context.stderr, `The id ${imported.id} is in use here; the new id is ${session.id}.`)
}

function cannotRead(cause: NodeJS.ErrnoException): never {
  throw new AgentprotoError('path_invalid', `${cause.path ?? 'The file'} cannot be read`, {
    given: cause.message,
    cause,
  })
}
