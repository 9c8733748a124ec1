import { asRecord, asString } from '@agentproto/contracts'
import type { RunnerDocument } from './agent-cli-document.js'
import type { RunnerProfile, SandboxProfile } from './agent-cli-manifest.js'
import { camelKeys } from './camel-keys.js'
import { parseManifest, type ParseOptions, type ParseResult } from './parse-manifest.js'
import { type Path, type RuleContext, strayKeyRule, valueAt } from './rule-context.js'
import { schemas } from './schemas.js'
import { validate } from './validators/runner.js'

/** Parses the text of a RUNNER.md (AIP-17). Never throws for the content of the text. */
export const parseRunner = (text: string, options: ParseOptions): ParseResult<RunnerProfile> =>
  parseManifest<RunnerDocument, RunnerProfile>(text, options, {
    schema: 'runner',
    validate,
    rules: (context) => {
      strayKeyRule(context, [], { known: Object.keys(schemas.runner.properties) })
      runnerRules(context, [])
    },
    normalise: normaliseRunner,
  }).result

/** Parts of a runner that no agent gets: it is installed by `install`, and started as a subprocess. */
export function runnerRules({ document, problems, keyAt }: RuleContext, path: Path): void {
  const runner = asRecord(valueAt(document, path))
  for (const key of ['engine', 'image', 'needs']) {
    if (runner[key] === undefined || asString(runner[key]) === 'subprocess') continue
    problems.warn('block_ignored', keyAt(...path, key), {
      message: `\`${[...path, key].join('.')}\` has no effect: an agent is installed by \`install\` and started as a subprocess.`,
      expected:
        key === 'engine' ? 'subprocess; what confines an agent is its sandbox' : 'only the keys engine and limits',
    })
  }
}

/** The parts of a runner that a host uses. */
export const normaliseRunner = ({ limits = {} }: RunnerDocument): RunnerProfile => ({ limits: camelKeys(limits) })

/** A sandbox with the limits of a runner: of two, the lower one counts. */
export function withRunnerLimits(sandbox: SandboxProfile, { limits }: RunnerProfile): SandboxProfile {
  const own = sandbox.limits
  const lower = Object.entries(limits).map(([name, limit]) => [
    name,
    Math.min(limit, own[name as keyof typeof own] ?? Infinity),
  ])
  return { ...sandbox, limits: { ...own, ...Object.fromEntries(lower) } }
}
