import { TOOL_KINDS, type PermissionRule } from '@agentproto/contracts'
import { Option, type Command } from 'commander'
import type { RuleOptions, ScopeOptions } from '../commands/permissions.js'
import type { Run } from '../io.js'

const HELP = `
Examples:
  $ agentproto permissions list --session try
  $ agentproto permissions allow --command "npm run *"
  $ agentproto permissions deny --tool edit --path ".github/**" --workspace shop
  $ agentproto permissions remove pr_1a2b

Rules answer what agents ask before the permission mode does, and before you are asked. What denies wins.
"agentproto sessions answer <id> --allow --remember session" makes one of an answer.
Without --session and --workspace, those of the active workspace are meant.`

/** The rules that answer permission requests without a person. */
export function addPermissionCommands(program: Command, run: Run): void {
  const permissions = program
    .command('permissions')
    .description('rules that answer what agents ask, those of remembered answers among them')
    .addHelpText('after', HELP)
  scoped(permissions.command('list'))
    .description('list the rules of a workspace, or all that hold for a session')
    .option('--json', 'as JSON')
    .action((options: ScopeOptions) => run(async (io) => (await commands()).listRules(io, options)))
  addRuleCommand(permissions, 'allow', run)
  addRuleCommand(permissions, 'deny', run)
  scoped(permissions.command('remove'))
    .description('take rules back, and print the id of each')
    .argument('<ruleId...>', 'as in the list; its first characters are enough')
    .option('--json', 'as JSON')
    .action((ruleIds: string[], options: ScopeOptions) =>
      run(async (io) => (await commands()).removeRules(io, ruleIds, options)),
    )
}

function addRuleCommand(permissions: Command, decision: PermissionRule['decision'], run: Run): void {
  scoped(permissions.command(decision))
    .description(`make a rule that ${decision === 'allow' ? 'allows' : 'denies'}, and print its id`)
    .addOption(new Option('--tool <kind>', 'what kind of tool it is').choices([...TOOL_KINDS]))
    .option('--path <pattern>', 'what the tool works on; * and ? within a name, ** for any names')
    .option('--command <words>', "what the tool runs; * within a word, a last '**' for any words")
    .addOption(new Option('--once', 'with --session: until it has answered one request').conflicts('workspace'))
    .option('--json', 'print the rule as JSON')
    .action((options: RuleOptions) => run(async (io) => (await commands()).addRule(io, decision, options)))
}

const scoped = (command: Command): Command =>
  command
    .addOption(new Option('--session <id>', 'those of this session').conflicts('workspace'))
    .option('--workspace <slug>', 'those of this workspace (default: the active one)')

const commands = (): Promise<typeof import('../commands/permissions.js')> => import('../commands/permissions.js')
