import { EXIT, type DoctorCheck } from '@agentproto/contracts'
import { adaptersOf } from '../adapters/adapters-of.js'
import { paintOf, print, printJson, type Io } from '../io.js'
import type { Paint } from '../render/paint.js'
import { oneLine } from '../render/printable.js'
import { interruptible } from '../signals.js'

export interface DoctorOptions {
  readonly live?: boolean
  readonly prompt?: string
  readonly longPrompt?: string
  readonly json?: boolean
}

/** `agentproto adapters doctor`: exit code 1 when a check has failed; warnings alone pass. */
export function examineAdapter(io: Io, slug: string, { json, ...request }: DoctorOptions): Promise<number> {
  return interruptible(async (signal) => {
    const adapters = await adaptersOf(io)
    const paint = paintOf(io, io.stdout)
    const checks: DoctorCheck[] = []
    for await (const check of adapters.doctor(slug, { ...request, signal })) {
      checks.push(check)
      if (json !== true) print(io.stdout, linesOf(check, paint))
    }
    const ok = checks.every(({ verdict }) => verdict !== 'fail')
    if (json === true) printJson(io, { slug, ok, checks })
    else print(io.stdout, summary(checks, paint))
    return ok ? EXIT.ok : EXIT.failed
  })
}

const TITLE_COLUMNS = 24

function linesOf({ verdict, title, detail, declared, found, hint }: DoctorCheck, paint: Paint): string[] {
  const marks = { ok: paint.green('✓'), warn: paint.yellow('!'), fail: paint.red('✗'), skip: paint.dim('–') }
  const compared =
    verdict !== 'ok' && declared !== undefined ? paint.dim(` (declared ${declared}, found ${found ?? 'nothing'})`) : ''
  return [
    `${marks[verdict]} ${title.padEnd(TITLE_COLUMNS)}${oneLine(detail)}${compared}`,
    ...(hint === undefined || verdict === 'ok' ? [] : [paint.dim(`  ${' '.repeat(TITLE_COLUMNS)}→ ${oneLine(hint)}`)]),
  ]
}

function summary(checks: readonly DoctorCheck[], paint: Paint): string {
  const count = (verdict: DoctorCheck['verdict']): number => checks.filter((check) => check.verdict === verdict).length
  const [failed, warned] = [count('fail'), count('warn')]
  const parts = [
    `${count('ok')} ok`,
    ...(warned === 0 ? [] : [`${warned} to look at`]),
    ...(failed === 0 ? [] : [`${failed} failed`]),
  ]
  return (failed === 0 ? paint.green : paint.red)(parts.join(', '))
}
