import { basename, parentName } from './file-name.js'
import { fieldsOf, listOf, textOf } from './field.js'
import { optionRules } from './option-rules.js'
import type { RuleContext } from './parse-manifest.js'
import { sandboxRules } from './sandbox-rules.js'
import { secretValueRule } from './secret-value-rule.js'
import { setupRules } from './setup-rules.js'
import { uniqueIds } from './unique-ids.js'
import { versionCheckRules } from './version-check-rules.js'

/** AIP-45's rules between fields: Conformance 3–8 and what the prose adds. */
export const agentCliRules =
  (sandboxProviders: readonly string[] = []) =>
  (context: RuleContext): void => {
    nameRule(context)
    protocolRules(context)
    mcpRules(context)
    versionCheckRules(context, ['version_check'])
    uniqueIds(context, 'modes')
    modeRules(context)
    optionRules(context)
    sessionRule(context)
    continuationRules(context)
    modelRule(context)
    setupRules(context)
    if (typeof fieldsOf(context.document)['sandbox'] === 'object') sandboxRules(context, ['sandbox'], sandboxProviders)
  }

function nameRule({ document, path, problems, at }: RuleContext): void {
  const name = textOf(fieldsOf(document)['name'])
  const folder = basename(path) === 'AGENT-CLI.md' ? parentName(path) : undefined
  if (name === undefined || folder === undefined || name === folder) return
  problems.warn('name_mismatch', at('name'), {
    message: '`name` differs from the name of the folder.',

    expected: folder,
    given: name,
    suggestion: folder,
  })
}

const BLOCK_OF = { acp: 'acp', mcp: 'mcp', proprietary: 'adapter' } as const

function protocolRules({ document, problems, keyAt }: RuleContext): void {
  const fields = fieldsOf(document)
  const protocol = textOf(fields['protocol'])
  if (protocol === undefined || !Object.hasOwn(BLOCK_OF, protocol)) return
  const needed = BLOCK_OF[protocol as keyof typeof BLOCK_OF]
  if (fields[needed] === undefined) {
    problems.error('key_missing', keyAt('protocol'), {
      message: `The protocol ${protocol} needs the key \`${needed}\`.`,

      expected: {
        acp: 'a relative path to an ACP.md',
        mcp: 'how the MCP server is reached',
        adapter: 'the name of an npm package',
      }[needed],
    })
  }
  for (const block of Object.values(BLOCK_OF)) {
    if (block === needed || fields[block] === undefined) continue
    problems.warn('block_ignored', keyAt(block), { message: `\`${block}\` is ignored: the protocol is ${protocol}.` })
  }
}

function mcpRules({ document, problems, at }: RuleContext): void {
  const fields = fieldsOf(document)
  if (fields['protocol'] !== 'mcp') return
  const { transport, url } = fieldsOf(fields['mcp'])
  if ((transport === 'http' || transport === 'sse') && url === undefined) {
    problems.error('mcp_incomplete', at('mcp', 'transport'), {
      message: `The transport ${transport} needs the key \`mcp.url\`.`,

      expected: 'an absolute URL',
    })
  }
}

function modeRules(context: RuleContext): void {
  listOf(fieldsOf(context.document)['modes']).forEach((_, index) => secretValueRule(context, ['modes', index, 'env']))
}

function sessionRule({ document, problems, at }: RuleContext): void {
  const fields = fieldsOf(document)
  if (fieldsOf(fields['session'])['mode'] !== 'resumable') return
  if (fieldsOf(fields['capabilities'])['resumable'] === true) return
  problems.error('capability_required', at('session', 'mode'), {
    message: 'The session mode resumable needs `capabilities.resumable: true`.',

    expected: 'capabilities.resumable: true',
    given: fieldsOf(fields['capabilities'])['resumable'] ?? 'no such capability',
  })
}

function continuationRules({ document, problems, at }: RuleContext): void {
  const fields = fieldsOf(document)
  const continuation = fieldsOf(fields['continuation'])
  const fallback = textOf(continuation['default'])
  if (fallback === undefined) return
  const supported = listOf(continuation['supported'])
  if (Array.isArray(continuation['supported']) && !supported.includes(fallback)) {
    problems.error('continuation_default_unsupported', at('continuation', 'default'), {
      message: '`continuation.default` is not in `supported`.',

      expected: `one of ${supported.join(', ')}`,
      given: fallback,
    })
  }
  if (fallback !== 'native-resume' || fieldsOf(fields['capabilities'])['resumable'] === true) return
  problems.error('capability_required', at('continuation', 'default'), {
    message: 'The continuation native-resume needs `capabilities.resumable: true`.',

    expected: 'capabilities.resumable: true',
    given: fieldsOf(fields['capabilities'])['resumable'] ?? 'no such capability',
  })
}

function modelRule({ document, problems, at }: RuleContext): void {
  const models = fieldsOf(fieldsOf(document)['models'])
  const fallback = textOf(models['default'])
  if (fallback === undefined || !Array.isArray(models['allowed']) || models['allowed'].includes(fallback)) return
  problems.error('model_not_allowed', at('models', 'default'), {
    message: '`models.default` is not in `models.allowed`.',

    expected: `one of ${models['allowed'].join(', ')}`,
    given: fallback,
  })
}
