import type { AddedAgent } from '@agentproto/contracts/wire'
import { paintFor, type CliContext } from '../cli-context.js'

/** What can be done with an agent that was added or updated. */
export function addedNote(context: CliContext, { state }: AddedAgent): string {
  const paint = paintFor(context, context.stderr)
  const { slug, version, ready, next } = state
  const agent = `${slug}${version === undefined ? '' : ` ${version}`}`
  return ready
    ? `${paint.green('✓')} ${agent} is ready. Try: agentproto run ${slug} --prompt "hello"`
    : `${paint.yellow('!')} ${agent} is added.${next === undefined ? '' : ` Next: ${next}`}`
}
