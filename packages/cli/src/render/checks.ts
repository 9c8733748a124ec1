import type { DoctorCheck } from '@agentproto/contracts/wire'
import type { Paint } from './paint.js'
import { oneLine } from './printable.js'

const TITLE_COLUMNS = 24

/** The result of one check, with what to do about it. */
export function checkLines({ verdict, title, detail, declared, found, hint }: DoctorCheck, paint: Paint): string[] {
  const marks = { ok: paint.green('✓'), warn: paint.yellow('!'), fail: paint.red('✗'), skip: paint.dim('–') }
  const compared =
    verdict !== 'ok' && declared !== undefined ? paint.dim(` (declared ${declared}, found ${found ?? 'nothing'})`) : ''
  return [
    `${marks[verdict]} ${title.padEnd(TITLE_COLUMNS)}${oneLine(detail)}${compared}`,
    ...(hint === undefined || verdict === 'ok' ? [] : [paint.dim(`  ${' '.repeat(TITLE_COLUMNS)}→ ${oneLine(hint)}`)]),
  ]
}

export function checksSummary(checks: readonly DoctorCheck[], paint: Paint): string {
  const count = (verdict: DoctorCheck['verdict']): number => checks.filter((check) => check.verdict === verdict).length
  const [failed, warned] = [count('fail'), count('warn')]
  const parts = [
    `${count('ok')} ok`,
    ...(warned === 0 ? [] : [`${warned} warned`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
  ]
  return (failed === 0 ? paint.green : paint.red)(parts.join(', '))
}
