import type { CommandFiles, CommandResult, Define } from '../../cli-command.js'
import { isInteractive, paintFor, widthOf, type CliContext } from '../../cli-context.js'
import type { JsonOption } from '../../command-definition.js'
import { connect } from '../../daemon/connect.js'

interface HostsOptions extends JsonOption {
  readonly watch?: boolean
}

export const define: Define = (command) =>
  command
    .description('list the hosts of the fleet; without a fleet only this one')
    .option('-w, --watch', 'show the list live')
    .json()
    .examples('hosts', 'hosts --watch', 'hosts --json')
    .run(show)

/** Without a further word, `hosts` is the list. */
export const runsAlone = true

export const children: CommandFiles = { key: () => import('./key.js') }

async function show(context: CliContext, options: HostsOptions): Promise<CommandResult | void> {
  const { json, watch } = options
  if (json !== true && watch === true && isInteractive(context))
    return (await import('../../watch-hosts.js')).watchHosts(context)
  const hosts = await (await connect(context)).hosts()
  if (json === true) return { json: { hosts } }
  const { renderHosts } = await import('../../render/hosts-table.js')
  const { stdout } = context
  return { text: renderHosts({ hosts, now: Date.now(), width: widthOf(stdout), paint: paintFor(context, stdout) }) }
}
