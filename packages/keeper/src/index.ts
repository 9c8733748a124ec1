// The keeper of agents, for gateways. This file is the package's contract: every export is named here.
export { guardsIn } from './dialects.js'
export type { HomeKeeper, KeeperInfo, KeeperOptions, ListedAgent } from './home-keeper.js'
export { connectKeeper, lookAtKeeper } from './keeper-client.js'
export { openKeeper } from './open-keeper.js'
export { speaksOtherWire } from './wire-connection.js'
