import { resolve } from 'node:path'
import { AgentprotoError, defined, HOST_LOSS_POLICIES, type HostLossPolicy } from '@agentproto/contracts'
import type { SpawnAgentRequest } from '@agentproto/contracts/wire'
import { Option } from 'commander'
import type { CliCommand, CommandResult } from '../../cli-command.js'
import { isInteractive, print, printJson, warn, type CliContext } from '../../cli-context.js'
import { addLimitOptions, limitsOf, type LimitOptions } from '../../budget-options.js'
import { addAgentOptions, type AgentOptions, type JsonOption } from '../../command-definition.js'
import { withOffer } from '../../adapters/with-offer.js'
import { connect } from '../../daemon/connect.js'
import { startSteps, withNextStep } from '../../next-steps.js'
import { withProgress } from '../../progress.js'
import { readInstructions, readPrompt } from '../../prompt/prompt-text.js'
import { startFolder } from '../../start-folder.js'

interface StartOptions extends AgentOptions, LimitOptions, JsonOption {
  readonly prompt?: string
  readonly workspace?: string
  readonly label?: string
  readonly on?: string
  readonly attach?: boolean
  readonly delegate?: boolean
  readonly worktree?: string | true
  readonly base?: string
  readonly onHostLoss?: HostLossPolicy
}

export function define(command: CliCommand): void {
  command
    .description('start a session and print its id')
    .argument('<adapter>', 'slug of the adapter; see: agentproto adapters list')
    .option('-p, --prompt <text>', 'first prompt; - reads it from stdin')
    .option('--cwd <folder>', 'folder to run in (default: this one, when it is in a workspace)')
    .option('--workspace <slug>', 'workspace to run in (default: the one of this folder, else the active one)')
    .option('--label <text>', 'a name for the session')
    .option('--on <host>', 'host to run on: its name, one of its labels as key=value, or any')
    .option('--worktree [branch]', 'run in a git worktree of its own, on a new branch or on this one')
    .option('--base <ref>', 'with --worktree: what a new branch starts from (default: what is checked out)')
    .addOption(hostLossOption())
  addLimitOptions(addAgentOptions(command))
    .option('--delegate', 'allow its agent to start sessions of the same adapter, in its folder, with its permissions')
    .option('-a, --attach', 'attach to it')
    .json('print the session as JSON')
    .examples(
      'sessions start demo --label try',
      'sessions start opencode --workspace shop -p "Why is the cart empty?"',
      'sessions start opencode --worktree fix-cart',
      'sessions start demo --attach',
      'sessions start demo --budget-turns 20 --budget-cost 5',
    )
    .run(start)
}

const hostLossOption = (): Option =>
  new Option(
    '--on-host-loss <policy>',
    'when its host in a fleet is lost: wait for it, or move to another host, which continues from the transcript',
  ).choices([...HOST_LOSS_POLICIES])

async function start(context: CliContext, adapter: string, options: StartOptions): Promise<CommandResult | void> {
  const request = await spawnRequest(context, adapter, options)
  const client = await connect(context)
  const { cwd, workspaceSlug, on } = request
  // A folder of this machine means nothing on another host.
  const isPlaced = [cwd, workspaceSlug, on].some((given) => given !== undefined)
  const folder = isPlaced ? undefined : await startFolder(context, client)
  const session = await withOffer(context, adapter, () =>
    withNextStep(startSteps(adapter), () =>
      withProgress(context, `Starting ${adapter}`, () => client.sessions.start({ ...request, ...folder?.place })),
    ),
  )
  if (folder !== undefined) warn(context, folder.note(session))
  for (const warning of session.warnings) warn(context, warning)
  if (options.json === true) printJson(context, session)
  else print(context.stdout, session.id)
  if (options.attach === true && isInteractive(context))
    await (await import('../../attach/attach-session.js')).attachSession(context, session.id)
}

async function spawnRequest(context: CliContext, adapter: string, options: StartOptions): Promise<SpawnAgentRequest> {
  const { prompt, cwd, workspace, label, on, envelope, mode, option, permissions, continuation, delegate } = options
  return {
    adapter,
    options: option,
    ...limitsOf(options),
    ...defined({
      prompt:
        prompt === undefined
          ? undefined
          : await readPrompt(context, prompt, `agentproto sessions start ${adapter} --prompt "hello"`),
      cwd: cwd === undefined ? undefined : resolve(context.cwd, cwd),
      workspaceSlug: workspace,
      label,
      on,
      worktree: worktreeOf(options),
      instructions: await readInstructions(context, options.instructions),
      envelope,
      mode,
      permissionMode: permissions,
      continuation,
      onHostLoss: options.onHostLoss,
      delegation: delegate === true ? {} : undefined,
    }),
  }
}

/** @throws `invalid_request` for a base without a worktree */
function worktreeOf({ worktree, base }: StartOptions): SpawnAgentRequest['worktree'] {
  if (worktree === undefined && base !== undefined)
    throw new AgentprotoError('invalid_request', 'Only a worktree has a base', { expected: '--worktree with --base' })
  if (worktree === undefined) return undefined
  return worktree === true && base === undefined
    ? true
    : defined({ branch: worktree === true ? undefined : worktree, base })
}
