// The keeper of agents, for gateways. This file is the package's contract: every export is named here.
export { connectKeeper, lookAtKeeper, openKeeper } from './keeper-client.js'
export type { HomeKeeper, KeeperInfo, KeeperOptions, ListedAgent } from './keeper-client.js'
