import type { PublishFinding, PublishReport } from '@agentproto/runtime'
import type { Paint } from './paint.js'
import { oneLine } from './printable.js'

const TITLE_COLUMNS = 40
const INDENT = ' '.repeat(TITLE_COLUMNS + 2)

/** One check, and what its author can do where it failed. */
export function publishLines(finding: PublishFinding, paint: Paint): readonly string[] {
  const title = finding.title.padEnd(TITLE_COLUMNS)
  switch (finding.verdict) {
    case 'pass':
      return [`${paint.green('✓')} ${title}${oneLine(finding.seen)}`]
    case 'skipped':
      return [paint.dim(`– ${title}skipped: ${oneLine(finding.reason)}`)]
    case 'fail':
      return [
        `${paint.red('✗')} ${title}${oneLine(finding.seen)}`,
        `${INDENT}expected: ${oneLine(finding.expected)}`,
        paint.dim(`${INDENT}→ ${oneLine(finding.advice)}`),
      ]
  }
}

export function publishSummary({ ok, passed, failed, skipped, badge }: PublishReport, paint: Paint): readonly string[] {
  const counts = `${passed} passed, ${failed} failed, ${skipped} skipped`
  return ['', (ok ? paint.green : paint.red)(counts), '', `For a README: ${badge}`]
}
