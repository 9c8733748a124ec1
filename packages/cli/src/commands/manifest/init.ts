import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { AgentprotoError, defined, isRecord } from '@agentproto/contracts'
import type { AgentObservation } from '@agentproto/contracts/agent'
import type { CommandResult, Define } from '../../cli-command.js'
import type { CliContext } from '../../cli-context.js'
import { interruptible } from '../../signals.js'

const HELP = `
Examples:
  $ agentproto manifest init my-agent
  $ agentproto manifest init my-agent --from my-agent acp
  $ agentproto manifest init my-agent --from my-agent -- --acp

--from starts the ACP agent in an empty folder, which is also its home, asks what it offers, and ends it. It sends no prompt, and
nothing stays. Arguments that begin with a dash come after --.`

export const define: Define = (command) =>
  command
    .description('write a new manifest, from a template or from what a running ACP agent answers')
    .argument('<path>', 'a new or empty folder; its name is the name of the adapter')
    .argument('[words...]', 'further arguments of the command of --from')
    .choice('--protocol <protocol>', 'protocol of the template', ['acp', 'mcp'])
    .option('--user-home', 'with --from: let the agent use your home, in which it may be logged in')
    .option('--from <command...>', 'the command that starts the ACP agent')
    .json()
    .addHelpText('after', HELP)
    .run(init)

interface InitOptions {
  readonly protocol?: 'acp' | 'mcp'
  readonly userHome?: boolean
  readonly from?: readonly string[]
}

async function init(
  context: CliContext,
  folder: string,
  ...[args, { protocol = 'acp', from = [], userHome }]: readonly [readonly string[], InitOptions]
): Promise<CommandResult | number> {
  const { answersOf, isAdapterId, manifestTemplate } = await import('@agentproto/manifest')
  const at = resolve(context.cwd, folder)
  const id = basename(at)
  if (!isAdapterId(id))
    throw new AgentprotoError('path_invalid', 'The name of the folder cannot be the name of an adapter', {
      expected: 'lower-case letters, digits and hyphens, at most 64',
      given: id,
    })
  const [program, ...more] = from
  if (program === undefined && args.length > 0) throw new AgentprotoError('invalid_request', 'Arguments need --from')
  if (program === undefined) return write(manifestTemplate({ id, protocol }), { at })
  // Before the agent is started for nothing.
  await requireNew(at)
  const command: readonly [string, ...string[]] = [program, ...more, ...args]
  const { describeAgent } = await import('@agentproto/runtime')
  const observed = await interruptible((signal) =>
    describeAgent({ command, env: context.env, cwd: context.cwd, signal, ...defined({ userHome }) }),
  )
  if (typeof observed === 'number') return observed
  const files = manifestTemplate({ id, protocol: 'acp', command, answers: answersOf(observed) })
  return write(files, { at, noSession: refusalOf(observed) })
}

interface Written {
  readonly at: string
  readonly noSession?: string | undefined
}

/** Replaces no file of the user. */
async function write(files: ReadonlyMap<string, string>, { at, noSession }: Written): Promise<CommandResult> {
  await requireNew(at)
  await mkdir(at, { recursive: true })
  for (const [name, text] of files) await writeFile(join(at, name), text, { flag: 'wx' })
  const paths = [...files.keys()].map((name) => join(at, name))
  const next = `Next: agentproto manifest validate ${at}`
  const missing = `The agent opened no session, so its modes and models are not known: ${noSession ?? ''}. --user-home may help.`
  return {
    json: { folder: at, files: paths },
    text: paths,
    note: noSession === undefined ? next : `${missing}\n${next}`,
  }
}

async function requireNew(at: string): Promise<void> {
  const entries = await readdir(at).catch((thrown: unknown) => {
    if (isRecord(thrown) && thrown['code'] === 'ENOENT') return []
    throw new AgentprotoError('path_invalid', 'The folder cannot be used', { given: at, cause: thrown })
  })
  if (entries.length > 0)
    throw new AgentprotoError('path_invalid', 'The folder is not empty', {
      expected: 'a new or empty folder',
      given: at,
    })
}

const refusalOf = ({ session }: AgentObservation): string | undefined =>
  session === 'opened' ? undefined : session.refused.message
