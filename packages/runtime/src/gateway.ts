import type { Services } from '@agentproto/contracts/wire'
import type { HttpApp } from '@agentproto/gateway-http'
import type { KeeperInfo } from '@agentproto/keeper'
import type { RestartableListenOptions } from '@agentproto/server'
import type { CloseOptions } from '@agentproto/session-registry'

/** All of agentproto in one object. */
export interface Gateway extends Omit<Services, 'browsers'>, AsyncDisposable {
  /** The HTTP surface, to be mounted in any server: `app.fetch(request)`. */
  readonly app: HttpApp
  /** The owner's token. */
  readonly token: string
  /** Folder of the state. */
  readonly home: string
  /** The process that holds the pipes of its agents; absent where they end with the gateway. */
  readonly keeper?: KeeperInfo
  /**
   * Serves `app` on a socket and writes `daemon.json` for the command line. If the first socket is TLS or not on loopback, a
   * plain one on loopback is opened for the agents and the command line of this machine.
   * @throws `listen_failed`; `path_invalid` for a TLS file that cannot be read
   */
  listen(options?: RestartableListenOptions): Promise<{ readonly url: string; readonly token: string }>
  /** Ends it in order: sessions and their agents, streams, sockets, logs, then the lock of the home. Idempotent. */
  close(options?: CloseOptions): Promise<void>
}
