import type { Services } from '@agentproto/contracts/wire'

/** `<service>.<method>` of every service of a gateway. */
export type MethodName = { [S in keyof Services]: `${S}.${keyof Services[S] & string}` }[keyof Services]

/**
 * Where a fleet answers a method:
 *
 * - `owner`: the host whose session it is, by the session id of its first argument; rules of a workspace are those of this host
 * - `placed`: the host that is chosen for it
 * - `all`: every host; one that does not answer is named
 * - `copy`: this host, from the watched directory
 * - `local`: this host, about itself
 */
export type Place = 'owner' | 'placed' | 'all' | 'copy' | 'local'

/** A new method does not compile until it is decided where a fleet answers it. */
export const PLACES = {
  'sessions.spawn': 'placed',
  'sessions.list': 'copy',
  'sessions.get': 'owner',
  'sessions.prompt': 'owner',
  'sessions.waitTurn': 'owner',
  'sessions.turns': 'owner',
  'sessions.turn': 'owner',
  'sessions.resume': 'owner',
  'sessions.configure': 'owner',
  'sessions.rename': 'owner',
  'sessions.fork': 'owner',
  'sessions.interrupt': 'owner',
  'sessions.kill': 'owner',
  'sessions.forget': 'owner',
  'sessions.output': 'owner',
  'sessions.events': 'owner',
  'sessions.follow': 'owner',
  'sessions.followOutput': 'owner',
  'sessions.requests': 'owner',
  'sessions.waiting': 'all',
  'sessions.answer': 'owner',
  'sessions.watch': 'copy',
  'permissions.rules': 'owner',
  'permissions.allRules': 'all',
  'permissions.addRule': 'owner',
  'permissions.removeRule': 'owner',
  'archive.search': 'all',
  'archive.prune': 'all',
  'archive.repair': 'owner',
  'archive.export': 'owner',
  'archive.import': 'placed',
  'usage.report': 'all',
  'worktrees.merge': 'owner',
  'worktrees.discard': 'owner',
  'changes.list': 'owner',
  'changes.diff': 'owner',
  'changes.markReviewed': 'owner',
  'changes.rewind': 'owner',
  'workspaces.resolve': 'local',
  'workspaces.enclosing': 'local',
  'workspaces.list': 'local',
  'workspaces.add': 'local',
  'workspaces.remove': 'local',
  'workspaces.use': 'local',
  'adapters.list': 'local',
  'adapters.get': 'local',
  'adapters.state': 'local',
  'adapters.icon': 'local',
  'adapters.provision': 'local',
  'adapters.add': 'local',
  'adapters.remove': 'local',
  'adapters.search': 'local',
  'adapters.lookUp': 'local',
  'adapters.addAgent': 'local',
  'adapters.outdated': 'local',
  'adapters.update': 'local',
  'adapters.doctor': 'local',
  'adapters.secrets': 'local',
  'tokens.list': 'local',
  'tokens.create': 'local',
  'tokens.revoke': 'local',
  'tokens.rotate': 'local',
  'browsers.code': 'local',
  'browsers.exchange': 'local',
  'browsers.logOut': 'local',
  'browsers.caller': 'local',
  'notifications.state': 'local',
  'notifications.test': 'local',
  'hosts.list': 'copy',
} as const satisfies Readonly<Record<MethodName, Place>>

/** The services that one host answers for another. */
export type SharedServices = Pick<Services, 'sessions' | 'permissions' | 'archive' | 'usage' | 'worktrees' | 'changes'>

/** The methods that one host calls at another: all that are not `copy` or `local`. */
export type CarriedName = {
  [M in MethodName]: (typeof PLACES)[M] extends 'copy' | 'local' ? never : M
}[MethodName]

/** The methods that the owner of a session answers. */
export type OwnerName = {
  [M in CarriedName]: (typeof PLACES)[M] extends 'owner' ? M : never
}[CarriedName]
