import { createRequire } from 'node:module'

/** Version of agentproto: of this package, and of the command line when it is bundled into that. */
export const { version } = createRequire(import.meta.url)('../package.json') as { readonly version: string }
