import type { PublishFinding } from './publish-finding.js'

/** The findings of an agent, summed up. */
export interface PublishReport {
  /** No check failed, and one passed at least. */
  readonly ok: boolean
  readonly passed: number
  readonly failed: number
  readonly skipped: number
  /** One line for a README. */
  readonly badge: string
  /** The same in the form of shields.io's endpoint badges. */
  readonly shield: {
    readonly schemaVersion: 1
    readonly label: string
    readonly message: string
    readonly color: 'brightgreen' | 'yellow' | 'red'
  }
  readonly checks: readonly PublishFinding[]
}

const LABEL = 'ACP publish-check'

/** @param name of an agent that gives itself none */
export function publishReport(name: string, checks: readonly PublishFinding[]): PublishReport {
  const count = (verdict: PublishFinding['verdict']): number => checks.filter((each) => each.verdict === verdict).length
  const [passed, failed, skipped] = [count('pass'), count('fail'), count('skipped')]
  const named = checks.find(({ id }) => id === 'handshake')
  const agent = (named?.verdict === 'pass' ? named.agent : undefined) ?? name
  const ok = failed === 0 && passed > 0
  const message = [
    `${passed} passed`,
    ...(failed === 0 ? [] : [`${failed} failed`]),
    ...(skipped === 0 ? [] : [`${skipped} skipped`]),
  ].join(', ')
  const color = ok ? (skipped === 0 ? 'brightgreen' : 'yellow') : 'red'
  const badge = `**${LABEL}:** ${ok ? '✓' : '✗'} ${message} · ${inMarkdown(agent)}`
  return { ok, passed, failed, skipped, badge, shield: { schemaVersion: 1, label: LABEL, message, color }, checks }
}

/** An agent's own name must not become markup of the page that shows the badge. */
const inMarkdown = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Cf}\s]+/gu, ' ').replaceAll(/[\\`*_{}[\]<>()#!|~&]/g, String.raw`\$&`)
