import { SCHEMA_FILES, type SchemaFile } from '@agentproto/manifest'
import { Argument } from 'commander'
import type { CommandResult, Define } from '../../cli-command.js'
import type { CliContext } from '../../cli-context.js'

const HELP = `
Examples:
  $ agentproto manifest schema
  $ agentproto manifest schema agent-cli > agent-cli.schema.json
  $ agentproto manifest schema agent-cli --path

What is printed is complete in itself. For an editor, write the path that --path prints after the first line of a manifest:
  # yaml-language-server: $schema=<path>`

export const define: Define = (command) =>
  command
    .description('print the JSON Schema of a kind of manifest, or the names of all')
    .addArgument(new Argument('[name]').choices(SCHEMA_FILES))
    .option('--path', 'print where its file is instead')
    .json('print the names, or the path, as JSON')
    .addHelpText('after', HELP)
    .run(schema)

async function schema(
  _: CliContext,
  name: SchemaFile | undefined,
  { path = false }: { readonly path?: boolean },
): Promise<CommandResult> {
  if (name === undefined) return { json: { schemas: SCHEMA_FILES }, text: SCHEMA_FILES }
  const { readSchema, schemaPath } = await import('@agentproto/manifest/node')
  if (path) return { json: { path: schemaPath(name) }, text: schemaPath(name) }
  const whole = await readSchema(name)
  return { json: whole, text: JSON.stringify(whole, undefined, 2) }
}
