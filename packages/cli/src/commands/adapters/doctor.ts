import { defined, EXIT } from '@agentproto/contracts'
import type { DoctorCheck } from '@agentproto/contracts/wire'
import type { Define } from '../../cli-command.js'
import { openAdapters } from '../../adapters/open-adapters.js'
import { paintFor, print, printJson, type CliContext } from '../../cli-context.js'
import type { JsonOption } from '../../command-definition.js'
import { checkLines, checksSummary } from '../../render/checks.js'
import { interruptible } from '../../signals.js'

interface DoctorOptions extends JsonOption {
  readonly live?: boolean
  readonly prompt?: string
  readonly longPrompt?: string
}

export const define: Define = (command) =>
  command
    .description('check an agent; the exit code is 1 when a check fails')
    .argument('<slug>')
    .option('--live', 'also start it, prompt it, interrupt, resume and stop it')
    .option('--prompt <text>', 'prompt for the live check')
    .option('--long-prompt <text>', 'prompt with a long answer, which is interrupted')
    .json()
    .examples('adapters doctor opencode', 'adapters doctor demo --live')
    .run(check)

function check(context: CliContext, slug: string, { json, live, prompt, longPrompt }: DoctorOptions): Promise<number> {
  return interruptible(async (signal) => {
    const adapters = await openAdapters(context)
    const paint = paintFor(context, context.stdout)
    const checks: DoctorCheck[] = []
    for await (const each of adapters.doctor(slug, { ...defined({ live, prompt, longPrompt }), signal })) {
      checks.push(each)
      if (json !== true) print(context.stdout, checkLines(each, paint))
    }
    const ok = checks.every(({ verdict }) => verdict !== 'fail')
    if (json === true) printJson(context, { slug, ok, checks })
    else print(context.stdout, checksSummary(checks, paint))
    return ok ? EXIT.ok : EXIT.failed
  })
}
