import type { AddedAgent } from '@agentproto/contracts/wire'
import { paintFor, type CliContext } from '../cli-context.js'
import { loginCommand } from '../render/observed-rows.js'
import { oneLine } from '../render/printable.js'

/** What can be done with an agent that was added or updated. */
export function addedNote(context: CliContext, { adapter, state }: AddedAgent): string {
  const paint = paintFor(context, context.stderr)
  const { slug, version, ready, next, loginHint } = state
  const agent = `${slug}${version === undefined ? '' : ` ${version}`}`
  if (loginHint !== undefined) {
    const command = loginCommand(slug, adapter.observed)
    const how = command === undefined ? '' : `\n  Log in with: ${command}`
    return `${paint.yellow('!')} ${agent} needs a login. It said: ${oneLine(loginHint)}${how}`
  }
  return ready
    ? `${paint.green('✓')} ${agent} is ready. Try: agentproto run ${slug} --prompt "hello"`
    : `${paint.yellow('!')} ${agent} is not ready.${next === undefined ? '' : ` Next: ${next}`}`
}
