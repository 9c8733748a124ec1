import { mkdir } from 'node:fs/promises'
import { resolve } from 'node:path'
import type { CommandResult, Define } from '../../cli-command.js'
import type { CliContext } from '../../cli-context.js'
import { homeOf } from '../../daemon/daemon-record.js'

interface KeyOptions {
  readonly show?: boolean
}

export const define: Define = (command) =>
  command
    .description('create the key that the gateways of a fleet share, and print the path of its file')
    .argument('[file]', 'default: fleet.key of the home')
    .option('--show', 'print the key, to copy it to another host')
    .json()
    .examples('hosts key', 'hosts key /etc/agentproto/fleet.key', 'hosts key --show')
    .run(key)

/** Who has the key speaks for every host: it is printed only when it is asked for. */
async function key(context: CliContext, file: string | undefined, { show }: KeyOptions): Promise<CommandResult> {
  const home = homeOf(context)
  if (file === undefined) await mkdir(home.root, { recursive: true, mode: 0o700 })
  const path = file === undefined ? home.fleetKey : resolve(context.cwd, file)
  const { fleetKey } = await import('@agentproto/runtime')
  const { isNew, key: text } = await fleetKey(path)
  if (show === true) return { json: { path, created: isNew, key: text }, text }
  const note = isNew
    ? 'Copy this file to the other hosts of the fleet; only its owner may read it.'
    : 'The key was there, and is unchanged.'
  return { json: { path, created: isNew }, text: path, note }
}
