import { existsSync } from 'node:fs'
import { isAbsolute, resolve } from 'node:path'
import { AgentprotoError, defined } from '@agentproto/contracts'
import type { AdapterService, AddedAgent } from '@agentproto/contracts/wire'
import { Option } from 'commander'
import type { CommandResult, Define } from '../../cli-command.js'
import { addOptionValue } from '../../command-definition.js'
import { type AgentSource, agentSource } from '../../adapters/agent-source.js'
import { addEndpoint, type EndpointOptions, isEndpoint } from '../../adapters/add-endpoint.js'
import { followAdding } from '../../adapters/add-agent.js'
import { addedNote } from '../../adapters/added-note.js'
import { openAdapters } from '../../adapters/open-adapters.js'
import { addTrustOptions, type TrustOptions } from '../../adapters/trust-options.js'
import type { CliContext } from '../../cli-context.js'
import { interruptible } from '../../signals.js'

interface AddOptions extends TrustOptions, EndpointOptions {
  readonly from?: string
}

export const define: Define = (command) => {
  command
    .description('add an agent of the registry, or an adapter of your own, and print its slug')
    .argument(
      '[source]',
      'acp:<id> or acp:<id>@<version>; a folder or an npm package with an AGENT-CLI.md; wss://… of an agent that runs elsewhere',
    )
    .option('--from <file>', 'a registry document or one entry, to use in place of the registry')
    .option('--as <slug>', 'slug of the adapter (default: the id)')
  addTrustOptions(command)
    .addOption(
      new Option(
        '--secret-header <header=slug>',
        'of wss://…: a header with the secret of that slug; repeatable',
      ).argParser(addOptionValue),
    )
    .option('--allow-private', 'of wss://… or ws://…: it may be on this machine or in a private network')
    .json()
    .examples(
      'adapters add acp:auggie',
      'adapters add acp:gemini@0.57.0 --as gemini-next',
      'adapters add --from ./agent.json',
      'adapters add ./my-agent',
      'adapters add @acme/our-agent',
      'adapters add wss://build.example.com/acp/codex --as build --secret-header authorization=build-server',
    )
    .run(add)
}

async function add(
  context: CliContext,
  ...[source, options]: [string | undefined, AddOptions]
): Promise<CommandResult | number> {
  const { from } = options
  if (source !== undefined && isEndpoint(source))
    return interruptible(async (signal) => resultOf(context, await addEndpoint(context, source, { options, signal })))
  const agent = source === undefined ? undefined : agentSource(source)
  if (from === undefined && agent === undefined) return addOwn(context, source)
  if (source !== undefined && agent === undefined)
    throw new AgentprotoError('invalid_request', 'A file of a registry has agents with ids', {
      expected: 'acp:<id>, or no source where the file has one entry',
      given: source,
    })
  return interruptible(async (signal) => {
    const adapters = await openAdapters(context)
    const file = from === undefined ? {} : { from: resolve(context.cwd, from) }
    const { id, version } = agent ?? (await onlyAgent(adapters, resolve(context.cwd, from ?? '')))
    const request = { ...file, ...defined({ version, slug: options.as }) }
    const start = (trust: TrustOptions) => adapters.addAgent(id, { ...request, ...trust, signal })
    return resultOf(context, await followAdding(context, start, { trust: options, signal }))
  })
}

/** A file with one entry needs no id. */
async function onlyAgent(adapters: AdapterService, from: string): Promise<AgentSource> {
  const { agents } = await adapters.search({ from })
  const ids = agents.flatMap(({ registryId }) => (registryId === undefined ? [] : [registryId]))
  const [id] = ids
  if (id !== undefined && ids.length === 1) return { id }
  throw new AgentprotoError('invalid_request', `The file has ${ids.length} agents`, {
    expected: 'one, or the id of one of them as acp:<id>',
    ...(ids.length === 0 ? {} : { given: ids.slice(0, 5).join(', ') }),
  })
}

const resultOf = (context: CliContext, added: AddedAgent): CommandResult => ({
  json: added,
  text: added.adapter.slug,
  note: addedNote(context, added),
})

/** A source is a folder when a folder has this name, else an npm package. */
async function addOwn(context: CliContext, source: string | undefined): Promise<CommandResult> {
  if (source === undefined)
    throw new AgentprotoError('invalid_request', 'What to add is not named', {
      expected: 'acp:<id>, wss://…, a folder or an npm package',
      hint: 'Find agents with: agentproto adapters search',
    })
  if (/^https?:/i.test(source))
    throw new AgentprotoError('invalid_request', 'An adapter is not added from an address of http', {
      expected: 'wss://… for an agent that runs elsewhere; --from <file> for an entry of a registry',
      given: source,
    })
  const path = resolve(context.cwd, source)
  const isPath = isAbsolute(source) || source.startsWith('.') || existsSync(path)
  const added = await (await openAdapters(context)).add(isPath ? path : source)
  const { slug, installed } = added
  return { json: added, text: slug, note: installed ? undefined : `Next: agentproto adapters install ${slug}` }
}
