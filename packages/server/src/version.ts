import { createRequire } from 'node:module'
import { defined } from '@agentproto/contracts'
import type { HomeWriter } from './home/home-record.js'

/** Set in a bundle that was built of a commit. */
declare const AGENTPROTO_BUILD: string | undefined

const { version } = createRequire(import.meta.url)('../package.json') as { readonly version: string }

/** This agentproto: of this package, and of the command line when it is bundled into that. */
export const thisAgentproto: HomeWriter = {
  version,
  ...defined({ build: typeof AGENTPROTO_BUILD === 'string' ? AGENTPROTO_BUILD : undefined }),
}
