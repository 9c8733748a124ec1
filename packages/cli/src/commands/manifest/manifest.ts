import type { CommandFiles, Define } from '../../cli-command.js'

export const define: Define = (command) =>
  command.description('work on AIP-45 manifests').examples('manifest validate my-agent/AGENT-CLI.md')

export const children: CommandFiles = {
  init: () => import('./init.js'),
  validate: () => import('./validate.js'),
  schema: () => import('./schema.js'),
}
