import type { PublishFinding, PublishReport } from '@agentproto/runtime'
import type { Paint } from './paint.js'
import { oneLine } from './printable.js'

const TITLE_COLUMNS = 40
const INDENT = ' '.repeat(TITLE_COLUMNS + 2)

/** The lines of a report, as its checks come: those that are skipped one after the other for one reason are one line. */
export class PublishLines {
  readonly #paint: Paint
  #skipped: Skipped[] = []

  constructor(paint: Paint) {
    this.#paint = paint
  }

  /** The lines that are complete with this check. */
  next(finding: PublishFinding): readonly string[] {
    if (finding.verdict === 'skipped' && finding.reason === this.#skipped[0]?.reason) {
      this.#skipped.push(finding)
      return []
    }
    const before = this.end()
    if (finding.verdict !== 'skipped') return [...before, ...checkLines(finding, this.#paint)]
    this.#skipped = [finding]
    return before
  }

  /** Those of the checks that were skipped last. */
  end(): readonly string[] {
    const [first, ...more] = this.#skipped
    this.#skipped = []
    if (first === undefined) return []
    if (more.length === 0) return checkLines(first, this.#paint)
    return [this.#paint.dim(`– ${more.length + 1} checks were skipped: ${oneLine(first.reason)}`)]
  }
}

type Skipped = Extract<PublishFinding, { verdict: 'skipped' }>

/** One check, and what its author can do where it failed. */
function checkLines(finding: PublishFinding, paint: Paint): readonly string[] {
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
