// Where an agent is on this host and what its manifest hints of it, for what installs, sets up and examines it. This file is
// the subpath's contract.
export { agentHome } from './launch/agent-home.js'
export { declaredSecrets, endpointSecrets, secretVariables } from './launch/declared-secrets.js'
export { endpointPlace, guardEndpoint, consentedPlace, type CheckedEndpoint } from './endpoint/guard-endpoint.js'
export { reachEndpoint, type ReachedEndpoint } from './endpoint/reach-endpoint.js'
export {
  disown,
  type FolderOwner,
  makeOwned,
  own,
  OWNER,
  ownerOf,
  removeLeftFolder,
  removeOwned,
} from './observe/owned-folder.js'
export { removeLeftScratch } from './observe/scratch-folder.js'
export { removeFolder } from './observe/remove-folder.js'
export { launchHints } from './launch/launch-hints.js'
export { agentPrefix, findAgent, findInPrefix, newestOf, programFolders } from './launch/locate-agent.js'
export type { LocatedAgent } from './launch/locate-agent.js'
