import { AgentprotoError, type PermissionRule } from '@agentproto/contracts'
import type { PermissionService } from '@agentproto/contracts/wire'

export const rule: PermissionRule = {
  ruleId: 'pr_1',
  decision: 'deny',
  lifetime: 'session',
  match: { command: 'git push **' },
  createdAt: '2026-11-22T00:00:00.000Z',
  createdBy: 'owner',
}

/** Permissions with one rule, and what was asked of them. */
export function fakePermissions(): { readonly permissions: PermissionService; readonly calls: unknown[][] } {
  const calls: unknown[][] = []
  const permissions: PermissionService = {
    async rules(...args) {
      calls.push(['rules', ...args])
      return [rule]
    },
    async allRules(...args) {
      calls.push(['allRules', ...args])
      return { rules: [rule] }
    },
    async addRule(...args) {
      calls.push(['addRule', ...args])
      return rule
    },
    async removeRule(...args) {
      calls.push(['removeRule', ...args])
      if (args[1] !== rule.ruleId) throw new AgentprotoError('rule_not_found', 'There is no such rule')
    },
  }
  return { permissions, calls }
}
