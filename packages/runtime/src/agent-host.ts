import type { Clock } from '@agentproto/contracts'
import { demoAgentPath } from '@agentproto/demo-agent'
import { type AllowedAdapter, SharedProcesses } from '@agentproto/driver-agent-cli'
import type { ProvisionHost } from '@agentproto/provisioning'
import { launchProvisioning } from '@agentproto/provisioning/launch'
import { createSecrets, type Redactor } from '@agentproto/secrets'
import type { GatewayOptions } from './gateway-options.js'
import { version } from './version.js'

export interface HostParts {
  readonly home: string
  readonly clock: Clock
  readonly redactor: Redactor
  readonly onProblem: (problem: string) => void
  /** Where the gateway is reached, once it listens. */
  readonly url?: () => string | undefined
}

/** Adapter packages that ship with agentproto, and so may be loaded into it; each is loaded when its first agent starts. */
const BUNDLED_CLIENTS: Readonly<Record<string, AllowedAdapter>> = {
  '@agentproto/adapter-gemini-cli': { version, module: () => import('@agentproto/adapter-gemini-cli') },
  '@agentproto/adapter-pty-repl': { version, module: () => import('@agentproto/adapter-pty-repl') },
}

/** This host as agents and installers see it, with its secrets and their redaction. */
export function agentHost(options: GatewayOptions, parts: HostParts): ProvisionHost {
  const { env = process.env, executables, environment, homes, bin, sandbox, sandboxProviders, oauth } = options
  const { home, clock, redactor, onProblem, url } = parts
  return {
    env,
    home,
    executables: { 'agentproto-demo-agent': demoAgentPath, ...executables },
    proprietary: { ...BUNDLED_CLIENTS, ...options.proprietary },
    clock,
    client: { name: 'agentproto', version },
    sharedProcesses: new SharedProcesses(),
    provisioning: launchProvisioning,
    redactor,
    secrets: createSecrets({ home, env, redactor, clock, onWarning: onProblem }),
    sandbox: {
      ...(sandboxProviders === undefined ? {} : { providers: sandboxProviders }),
      ...(sandbox === undefined ? {} : { whenUnavailable: sandbox }),
    },
    ...(environment === undefined ? {} : { environment }),
    ...(homes === undefined ? {} : { homes }),
    ...(bin === undefined ? {} : { bin }),
    ...(oauth === undefined ? {} : { oauth }),
    ...(url === undefined ? {} : { url }),
  }
}
