import { defined } from '@agentproto/contracts'
import type { AgentKeeper } from '@agentproto/contracts/agent'
import { demoAgentPath } from '@agentproto/demo-agent'
import { type AllowedAdapter, FirstStarts } from '@agentproto/driver-agent-cli'
import type { ProvisionHost, Terminal } from '@agentproto/provisioning'
import { launchProvisioning } from '@agentproto/provisioning/launch'
import { createSecrets } from '@agentproto/secrets'
import type { Audit } from '@agentproto/server'
import type { Observers } from './observe.js'
import { privateEndpoints, type Settings } from './settings.js'
import { version } from './version.js'

export interface AgentParts extends Pick<Observers, 'redactor' | 'onProblem'> {
  readonly audit: Pick<Audit, 'wrap'>
  /** A person who can answer questions; without one, a step that needs one is reported as pending. */
  readonly terminal?: Terminal
  /** Holds the pipes of agents, so that they outlive this host. */
  readonly keeper?: AgentKeeper | undefined
}

/** Adapter packages that ship with agentproto, and so may be loaded into it; each is loaded when its first agent starts. */
const BUNDLED_CLIENTS: Readonly<Record<string, AllowedAdapter>> = {
  '@agentproto/adapter-gemini-cli': { version, module: () => import('@agentproto/adapter-gemini-cli') },
  '@agentproto/adapter-pty-repl': { version, module: () => import('@agentproto/adapter-pty-repl') },
}

/** This host as agents and installers see it, with its secrets and their redaction. */
export function agentHost(settings: Settings, { redactor, onProblem, terminal, keeper }: AgentParts): ProvisionHost {
  const { env = process.env, executables, environment, homes, bin, limits } = settings
  const {
    sandbox,
    sandboxProviders,
    oauth,
    proprietary,
    clock,
    address,
    allowedHosts = [],
    listen,
    publicUrl,
  } = settings
  const home = settings.layout.root
  const ownNames = [...allowedHosts, ...(listen?.host === undefined ? [] : [listen.host]), ...hostnameIn(publicUrl)]
  return {
    env,
    home,
    onWarning: onProblem,
    executables: { 'agentproto-demo-agent': demoAgentPath, ...executables },
    proprietary: { ...BUNDLED_CLIENTS, ...proprietary },
    clock,
    client: { name: 'agentproto', version },
    firstStarts: new FirstStarts(),
    provisioning: launchProvisioning,
    redactor,
    secrets: createSecrets({ home, env, redactor, clock, onWarning: onProblem }),
    sandbox: defined({ providers: sandboxProviders, whenUnavailable: sandbox, ownNames }),
    ...defined({ environment, homes, bin, limits, oauth, terminal, keeper }),
    url: () => address.url,
    // Those of the options, and those of the file as it is then.
    privateEndpoints: () => privateEndpoints(settings),
  }
}

/** An address that is not valid is refused when the surfaces open. */
const hostnameIn = (url: string | undefined): readonly string[] =>
  url !== undefined && URL.canParse(url) ? [new URL(url).hostname] : []
