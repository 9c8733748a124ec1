import { loadAddressReach } from '@agentproto/driver-agent-cli'
import { createSecrets } from '@agentproto/secrets'
import { Notifier } from '@agentproto/server'
import { hostNameOf } from './fleet-settings.js'
import type { Observers } from './observe.js'
import type { Settings } from './settings.js'
import { version } from './version.js'

/** The notifications of a gateway. */
export type Notifications = ReturnType<typeof openNotifications>

/** Delivers nothing before `notifier.start`. @throws `invalid_request` for a webhook whose address is none */
export function openNotifications(settings: Settings, { redactor, audit, onProblem }: Observers) {
  const { clock, layout, inMemory, env = process.env, notify = {} } = settings
  const secrets = createSecrets({ home: layout.root, env, redactor, clock, onWarning: onProblem })
  const notifier = new Notifier({
    options: notify,
    clock,
    hostId: hostNameOf(settings),
    version,
    env,
    outboxPath: inMemory ? undefined : layout.outbox,
    secret: async (slug) => (await secrets.resolve({ slug }))?.text,
    redact: (text) => redactor.redact(text),
    loadReach: loadAddressReach,
    onProblem,
  })
  return { notifier, notifications: audit.wrap('notifications', notifier) }
}
