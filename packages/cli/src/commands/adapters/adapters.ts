import type { CommandFiles, Define } from '../../cli-command.js'

const HELP = `
Examples:
  $ agentproto adapters install opencode
  $ agentproto adapters doctor opencode --live
  $ agentproto adapters setup shop --input url=http://127.0.0.1:9000
  $ agentproto adapters search code
  $ agentproto adapters add acp:auggie
  $ agentproto adapters add ./my-agent

Agents from npm are installed into a folder of their own in the home: without root, and without changing PATH.`

export const define: Define = (command) =>
  command.description('the agents that can be started').addHelpText('after', HELP)

export const children: CommandFiles = {
  list: () => import('./list.js'),
  show: () => import('./show.js'),
  search: () => import('./search.js'),
  add: () => import('./add.js'),
  outdated: () => import('./outdated.js'),
  update: () => import('./update.js'),
  remove: () => import('./remove.js'),
  doctor: () => import('./doctor.js'),
  install: () => import('./install.js'),
  setup: () => import('./setup.js'),
  login: () => import('./login.js'),
  'publish-check': () => import('./publish-check.js'),
}
