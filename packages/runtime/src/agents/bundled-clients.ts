import type { AllowedAdapter } from '@agentproto/driver-agent-cli'
import { version } from '../version.js'

/** Adapter packages that ship with agentproto, and so may be loaded into it; each is when its first agent starts. */
export const BUNDLED_CLIENTS: Readonly<Record<string, AllowedAdapter>> = {
  '@agentproto/adapter-gemini-cli': { version, module: () => import('@agentproto/adapter-gemini-cli') },
  '@agentproto/adapter-pty-repl': { version, module: () => import('@agentproto/adapter-pty-repl') },
}
