import { createRequire } from 'node:module'
import { defined } from '@agentproto/contracts'

/** An agentproto, as the homes that it writes name it. */
export interface HomeWriter {
  readonly version: string
  /** The commit of which it was built, where the build knows it. */
  readonly build?: string
}

/** Set in a bundle that was built of a commit. */
declare const AGENTPROTO_BUILD: string | undefined

const { version } = createRequire(import.meta.url)('../package.json') as { readonly version: string }

/** This agentproto: of this package, and of the command line when it is bundled into that. */
export const thisAgentproto: HomeWriter = {
  version,
  ...defined({ build: typeof AGENTPROTO_BUILD === 'string' ? AGENTPROTO_BUILD : undefined }),
}
