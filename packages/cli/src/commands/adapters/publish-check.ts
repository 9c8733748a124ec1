import { resolve } from 'node:path'
import { AgentprotoError, defined, EXIT } from '@agentproto/contracts'
import { AGENT_CASE_IDS, type AgentCaseId } from '@agentproto/contracts/agent'
import type { PublishFinding, PublishOptions, PublishTarget } from '@agentproto/runtime'
import { Option } from 'commander'
import { agentSource } from '../../adapters/agent-source.js'
import type { CliCommand, Define } from '../../cli-command.js'
import { paintFor, print, printJson, type CliContext } from '../../cli-context.js'
import { type JsonOption, toSeconds } from '../../command-definition.js'
import { PublishLines, publishSummary } from '../../render/publish-report.js'
import { interruptible } from '../../signals.js'

const HELP = `
Examples:
  $ agentproto adapters publish-check demo --prompt-permission "ask notes.txt hello"
  $ agentproto adapters publish-check ./agent.json
  $ agentproto adapters publish-check acp:auggie
  $ agentproto adapters publish-check my-agent acp
  $ agentproto adapters publish-check --user-home node ./agent.mjs -- --acp
  $ agentproto adapters publish-check my-agent --only cancel permission

An entry of the registry, or of a .json file before it is published, is installed in an empty home. The agent of a command is started
in an empty folder, with an empty home; that of an adapter with the home that its sessions use. Nothing stays. Arguments of the
command that begin with a dash come after --.
What only a model can show needs a prompt that makes it do so; without one, the check is skipped. The exit code is 0 when no check
failed, 1 when one did.`

export const define: Define = (command) =>
  addPrompts(command)
    .description('check what an ACP agent must do before it is published, as a report for its author')
    .argument('<agent...>', 'acp:<id>, a .json file with an entry, the slug of an adapter, or a command that starts it')
    .option('--user-home', 'let the agent of an entry or a command use your home, in which it may be logged in')
    .addOption(
      new Option('--only <checks...>', 'of the checks that need a session, run only these').choices([
        ...AGENT_CASE_IDS,
      ]),
    )
    .option('--from <file>', 'a registry document in which acp:<id> is, in place of the registry')
    .option('--allow-scripts', 'let npm run the install scripts of the packages of an entry')
    .option('--turn-limit <seconds>', 'the longest that a turn may take; default 120', toSeconds)
    .json()
    .addHelpText('after', HELP)
    .run(check)

const addPrompts = (command: CliCommand): CliCommand =>
  command
    .option('--prompt <text>', 'a prompt with a short answer and without a tool')
    .option('--prompt-long <text>', 'a prompt whose answer takes some seconds')
    .option('--prompt-permission <text>', 'a prompt that makes the agent request a permission')
    .option('--prompt-tool <text>', 'a prompt that makes it use a tool that needs no permission')

interface CheckOptions extends JsonOption {
  readonly userHome?: boolean
  readonly from?: string
  readonly allowScripts?: boolean
  readonly only?: readonly AgentCaseId[]
  readonly turnLimit?: number
  readonly prompt?: string
  readonly promptLong?: string
  readonly promptPermission?: string
  readonly promptTool?: string
}

function check(context: CliContext, words: readonly [string, ...string[]], options: CheckOptions): Promise<number> {
  return interruptible(async (signal) => {
    const { openPublishCheck, publishReportOf } = await import('@agentproto/runtime')
    const target = targetOf(words, options, context)
    const paint = paintFor(context, context.stdout)
    const lines = new PublishLines(paint)
    const show = (text: readonly string[]): void => {
      if (options.json !== true && text.length > 0) print(context.stdout, text)
    }
    const checks: PublishFinding[] = []
    const { env, cwd } = context
    for await (const each of openPublishCheck(target, { ...requestOf(options), signal }, { env, cwd })) {
      checks.push(each)
      show(lines.next(each))
    }
    show(lines.end())
    const report = await publishReportOf(words.join(' '), checks)
    if (options.json === true) printJson(context, report)
    else print(context.stdout, publishSummary(report, paint))
    return report.ok ? EXIT.ok : EXIT.failed
  })
}

/** A slug is one word; a program of one word is written with its path. */
function targetOf(
  words: readonly [string, ...string[]],
  { from, allowScripts }: CheckOptions,
  { cwd }: CliContext,
): PublishTarget {
  const [first, ...rest] = words
  const agent = rest.length === 0 ? agentSource(first) : undefined
  const file = from ?? (rest.length === 0 && first.endsWith('.json') ? first : undefined)
  const entry = defined({ id: agent?.id, from: file === undefined ? undefined : resolve(cwd, file), allowScripts })
  if (agent !== undefined || file === first) return { entry }
  if (from !== undefined)
    throw new AgentprotoError('invalid_request', '--from needs the id of an agent', {
      expected: 'acp:<id>',
      given: first,
    })
  return rest.length === 0 && !first.includes('/') ? { slug: first } : { command: [first, ...rest], cwd }
}

function requestOf(options: CheckOptions): Omit<PublishOptions, 'signal'> {
  const { prompt, promptLong, promptPermission, promptTool, turnLimit, userHome, only } = options
  return {
    prompts: defined({ answer: prompt, long: promptLong, permission: promptPermission, tool: promptTool }),
    limits: defined({ answerMs: turnLimit === undefined ? undefined : turnLimit * 1_000 }),
    ...defined({ userHome, only }),
  }
}
