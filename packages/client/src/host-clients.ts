import type { NamedToken, TokenService, WorkspaceResolver, WorkspaceService } from '@agentproto/contracts'
import type { NotificationState, NotificationTest } from '@agentproto/contracts/wire'
import type { Transport } from './transport.js'

/** The named folders of a gateway. */
export type WorkspacesClient = Omit<WorkspaceService, keyof WorkspaceResolver>

export function workspacesClient({ call }: Transport): WorkspacesClient {
  return {
    list: () => call('GET /workspaces', {}),
    add: (body) => call('POST /workspaces', { body }),
    async remove(slug) {
      await call('DELETE /workspaces/:slug', { params: { slug } })
    },
    use: (slug) => call('POST /workspaces/:slug/use', { params: { slug } }),
  }
}

/** What a gateway notifies its owner of; needs the owner or the scope `admin`. */
export interface NotificationsClient {
  /** What is sent, and what waits. */
  state(): Promise<NotificationState>
  /** Sends a test to each target. @throws `invalid_request` when none is configured */
  test(): Promise<NotificationTest>
}

export const notificationsClient = ({ call }: Transport): NotificationsClient => ({
  state: () => call('GET /notifications', {}),
  test: () => call('POST /notifications/test', {}),
})

/** The named tokens of a gateway; needs the owner or the scope `admin`. */
export function tokensClient({ call }: Transport): TokenService {
  return {
    async list(): Promise<readonly NamedToken[]> {
      const { tokens } = await call('GET /tokens', {})
      return tokens
    },
    create: (body) => call('POST /tokens', { body }),
    async revoke(name, _by, query = {}) {
      const { ended, kept } = await call('DELETE /tokens/:name', { params: { name }, query })
      return { ended, kept }
    },
    rotate: (name, _by, body = {}) => call('POST /tokens/:name/rotate', { params: { name }, body }),
  }
}
