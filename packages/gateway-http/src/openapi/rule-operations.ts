import { addRuleSchema } from '@agentproto/contracts'
import type { ErrorCode } from '@agentproto/contracts'
import { workspaceRuleSchema } from '../query-schemas.js'
import * as is from './answers.js'
import { answer, type Operation, type Operations, tagged } from './operation.js'

/** The permission rules of sessions and workspaces. */
export const ruleOperations: Operations = {
  ...operationsOf('/sessions/:id', 'Session', ['session_not_found']),
  ...operationsOf('/workspaces/:slug', 'Workspace', ['workspace_not_found', 'cwd_invalid']),
}

type Collection = '/sessions/:id' | '/workspaces/:slug'

function operationsOf(at: Collection, of: string, absent: readonly ErrorCode[]): Operations {
  const list: Operation = {
    id: `list${of}Rules`,
    summary: 'What is allowed and denied without a person',
    answers: tagged('The rules', is.rules),
    problems: [...absent, 'storage_failed'],
  }
  const add: Operation = {
    id: `add${of}Rule`,
    summary: 'Makes a rule; requests that wait are answered by it',
    body: at === '/sessions/:id' ? addRuleSchema : workspaceRuleSchema,
    answers: { 201: answer('The rule, or the same one that was there', is.rule) },
    problems: [...absent, 'rule_limit_reached', 'storage_failed'],
  }
  const remove: Operation = {
    id: `remove${of}Rule`,
    summary: 'Takes a rule back',
    answers: { 200: answer('It is gone', is.ruleRemoved) },
    problems: [...absent, 'rule_not_found', 'storage_failed'],
  }
  return { [`GET ${at}/rules`]: list, [`POST ${at}/rules`]: add, [`DELETE ${at}/rules/:ruleId`]: remove }
}
