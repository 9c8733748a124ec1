import { asList, asRecord, asString } from '@agentproto/contracts'
import validRange from 'semver/ranges/valid.js'
import { endpointRules } from './agent-endpoint.js'
import { installRules } from './install-rules.js'
import { metadataRules } from './metadata-rules.js'
import type { ParseAgentCliOptions } from './parse-manifest.js'
import { optionRules } from './option-rules.js'
import { type ProblemCode, show } from './problem.js'
import { regexProblem, regexShape } from './regex-shape.js'
import { type RuleContext, uniqueIds, valueAt } from './rule-context.js'
import { runnerRules } from './runner-profile.js'
import { sandboxRules } from './sandbox-profile.js'
import { secretValueRule } from './secret-value-rule.js'
import { setupRules } from './setup-rules.js'

/** AIP-45's rules between fields: Conformance 3–8 and what the prose adds. */
export const agentCliRules =
  ({ sandboxProviders = [], ...place }: ParseAgentCliOptions) =>
  (context: RuleContext): void => {
    nameRule(context, place)
    protocolRules(context)
    versionCheckRules(context)
    installRules(context)
    modeRules(context)
    optionRules(context)
    capabilityRule(context, ['session', 'mode'], 'resumable')
    defaultRule(context, 'continuation', { list: 'supported', code: 'continuation_default_unsupported' })
    capabilityRule(context, ['continuation', 'default'], 'native-resume')
    defaultRule(context, 'models', { list: 'allowed', code: 'model_not_allowed' })
    setupRules(context)
    runnerRules(context, ['runner'])
    metadataRules(context)
    endpointRules(context)
    if (typeof asRecord(context.document)['sandbox'] === 'object') sandboxRules(context, ['sandbox'], sandboxProviders)
  }

type Place = Pick<ParseAgentCliOptions, 'path' | 'folder' | 'anyFolder'>

function nameRule({ document, problems, at }: RuleContext, { path, anyFolder = false, ...place }: Place): void {
  const name = asString(asRecord(document)['name'])
  // With either slash: this also runs where there is no file system.
  const [fileName, parent = ''] = path.split(/[/\\]/).toReversed()
  const folder = place.folder ?? parent
  if (name === undefined || fileName !== 'AGENT-CLI.md' || ['', '.', '..', name].includes(folder)) return
  const mismatch = {
    message: '`name` differs from the name of the folder.',
    expected: folder,
    given: name,
    suggestion: folder,
  }
  if (anyFolder) problems.warn('name_mismatch', at('name'), mismatch)
  else problems.error('name_mismatch', at('name'), mismatch)
}

/** What each protocol needs, by key. */
const PROTOCOL_KEYS = {
  acp: { key: 'acp', expected: 'a relative path to an ACP.md, such as ./ACP.md' },
  mcp: { key: 'mcp', expected: 'how to reach the MCP server, such as transport: stdio' },
  proprietary: { key: 'adapter', expected: 'the name of an npm package' },
} as const

function protocolRules({ document, problems, at, keyAt }: RuleContext): void {
  const fields = asRecord(document)
  const protocol = asString(fields['protocol'])
  if (protocol === undefined || !Object.hasOwn(PROTOCOL_KEYS, protocol)) return
  const needed = PROTOCOL_KEYS[protocol as keyof typeof PROTOCOL_KEYS]
  if (fields[needed.key] === undefined) {
    problems.error('key_missing', keyAt('protocol'), {
      message: `The protocol ${protocol} needs the key \`${needed.key}\`.`,
      expected: needed.expected,
    })
  }
  for (const { key } of Object.values(PROTOCOL_KEYS)) {
    if (key === needed.key || fields[key] === undefined) continue
    problems.warn('block_ignored', keyAt(key), {
      message: `\`${key}\` has no effect: the protocol is ${protocol}.`,
      expected: `only the key ${needed.key}`,
    })
  }
  const { transport, url } = asRecord(fields['mcp'])
  if (protocol === 'mcp' && (transport === 'http' || transport === 'sse') && url === undefined) {
    problems.error('mcp_incomplete', at('mcp', 'transport'), {
      message: `The transport ${transport} needs the key \`mcp.url\`.`,
      expected: 'an absolute URL',
    })
  }
}

/** AIP-29 `version_check`: a regular expression with a group, and a range. */
function versionCheckRules({ document, problems, at }: RuleContext): void {
  const check = asRecord(asRecord(document)['version_check'])
  // The schema has refused one that is longer.
  const parse = asString(check['parse'])?.slice(0, 1_000) ?? ''
  const problem = parse === '' || parse !== check['parse'] ? undefined : regexProblem(parse)
  if (problem !== undefined) {
    problems.error('regex_invalid', at('version_check', 'parse'), {
      message: `\`version_check.parse\` cannot be used: ${problem}.`,
      expected: 'an ECMAScript regular expression with a group around the version',
      given: parse,
      suggestion: '(\\d+\\.\\d+\\.\\d+)',
    })
  } else if (regexShape(parse).nestedRepetition) {
    problems.warn('regex_slow', at('version_check', 'parse'), {
      message: '`version_check.parse` repeats a repetition, which can take very long.',
      expected: 'a group that does not end in a repetition, or that is not repeated itself',
      given: parse,
    })
  }
  const range = asString(check['range'])
  if (range === undefined || range.length > 1_000 || validRange(range) !== null) return
  problems.error('range_invalid', at('version_check', 'range'), {
    message: '`version_check.range` is not a semver range.',
    expected: 'an npm range such as >=1.2.0 <2',
    given: range,
  })
}

function modeRules(context: RuleContext): void {
  uniqueIds(context, 'modes')
  asList(asRecord(context.document)['modes']).forEach((_, index) => secretValueRule(context, ['modes', index, 'env']))
}

/** A value that needs `capabilities.resumable`. */
function capabilityRule({ document, problems, at }: RuleContext, path: readonly string[], value: string): void {
  const declared = valueAt(document, ['capabilities', 'resumable'])
  if (valueAt(document, path) !== value || declared === true) return
  problems.error('capability_required', at(...path), {
    message: `\`${path.join('.')}: ${value}\` needs \`capabilities.resumable: true\`.`,
    expected: 'capabilities.resumable: true',
    given: declared ?? 'no such capability',
  })
}

/** A block's default must be one of the values that the block allows. */
function defaultRule(context: RuleContext, block: string, { list, code }: AllowedValues): void {
  const { default: fallback, [list]: allowed } = asRecord(asRecord(context.document)[block])
  if (typeof fallback !== 'string' || !Array.isArray(allowed) || allowed.includes(fallback)) return
  context.problems.error(code, context.at(block, 'default'), {
    message: `\`${block}.default\` is not in \`${block}.${list}\`.`,
    expected: `one of ${allowed.map(show).join(', ')}`,
    given: fallback,
  })
}

interface AllowedValues {
  /** Key of the list. */
  readonly list: string
  readonly code: ProblemCode
}
