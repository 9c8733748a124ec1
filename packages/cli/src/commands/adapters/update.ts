import { EXIT, isAgentprotoError } from '@agentproto/contracts'
import type { AdapterService, AddedAgent } from '@agentproto/contracts/wire'
import type { CommandResult, Define } from '../../cli-command.js'
import { addedNote } from '../../adapters/added-note.js'
import { followAdding } from '../../adapters/add-agent.js'
import { confirm, isAttended } from '../../adapters/confirm.js'
import { openAdapters } from '../../adapters/open-adapters.js'
import { addTrustOptions, type TrustOptions } from '../../adapters/trust-options.js'
import { warn, type CliContext } from '../../cli-context.js'
import { interruptible } from '../../signals.js'

interface UpdateOptions extends TrustOptions {
  readonly yes?: boolean
}

export const define: Define = (command) => {
  command
    .description('replace an agent by the version of the registry, after that has passed its checks')
    .argument('[slug]', 'default: all that `adapters outdated` lists')
    .option('-y, --yes', 'replace a manifest that you have edited')
  addTrustOptions(command).json().examples('adapters update auggie', 'adapters update').run(update)
}

async function update(
  context: CliContext,
  ...[slug, options]: [string | undefined, UpdateOptions]
): Promise<CommandResult | number> {
  return interruptible(async (signal) => {
    const adapters = await openAdapters(context)
    const updating = { adapters, options, signal }
    if (slug !== undefined) {
      const updated = await updateOne(context, slug, updating)
      return { json: updated, text: slug, note: addedNote(context, updated) }
    }
    return updateAll(context, updating)
  })
}

interface Updating {
  readonly adapters: AdapterService
  readonly options: UpdateOptions
  readonly signal: AbortSignal
}

/** One after the other: what one of them throws does not keep the others from their update. */
async function updateAll(context: CliContext, updating: Updating): Promise<CommandResult> {
  const { updates } = await updating.adapters.outdated({}, updating.signal)
  const updated: AddedAgent[] = []
  const failed: { readonly slug: string; readonly problem: object }[] = []
  for (const { slug } of updates) {
    try {
      updated.push(await updateOne(context, slug, updating))
    } catch (thrown) {
      if (!isAgentprotoError(thrown) || thrown.code === 'cancelled') throw thrown
      failed.push({ slug, problem: thrown.toProblem() })
      warn(context, `${slug} stays as it is: ${thrown.message}`)
    }
  }
  return {
    json: { updated, failed },
    text: updated.map(({ adapter }) => adapter.slug),
    note: `${updated.length} updated${failed.length === 0 ? '' : `, ${failed.length} not`}.`,
    exit: failed.length === 0 ? EXIT.ok : EXIT.failed,
  }
}

/** At a terminal it asks before a manifest is replaced that its owner has edited. */
async function updateOne(context: CliContext, slug: string, updating: Updating): Promise<AddedAgent> {
  const { adapters, options, signal } = updating
  const run = (replaceEdited: boolean): Promise<AddedAgent> =>
    followAdding(context, (trust) => adapters.update(slug, { ...trust, replaceEdited, signal }), {
      trust: options,
      signal,
    })
  try {
    return await run(options.yes === true)
  } catch (thrown) {
    if (!isAgentprotoError(thrown) || thrown.code !== 'adapter_edited' || !isAttended(context)) throw thrown
    if (!(await confirm(context, `You have edited the manifest of ${slug}. Replace it?`, signal))) throw thrown
    return run(true)
  }
}
