import { InvalidArgumentError, Option, type Command } from 'commander'
import type { ExportOptions } from '../commands/sessions-export.js'
import type { PruneOptions } from '../commands/sessions-prune.js'
import type { RepairOptions } from '../commands/sessions-repair.js'
import type { SearchOptions } from '../commands/sessions-search.js'
import type { Run } from '../io.js'
import type { JsonOption } from '../json-option.js'
import { toCount } from './option-values.js'

/** Commands on sessions as stored documents. */

export function addArchiveCommands(sessions: Command, run: Run): void {
  addSearch(sessions, run)
  addExport(sessions, run)
  sessions
    .command('prune')
    .description('forget sessions that ended long ago, with their logs')
    .requiredOption('--older-than <time>', 'as in 30d, 12h, 90m', toSpan)
    .option('--dry-run', 'only print which')
    .option('--json', 'as JSON')
    .action((options: PruneOptions) =>
      run(async (io) => (await import('../commands/sessions-prune.js')).pruneSessions(io, options)),
    )
  sessions
    .command('repair')
    .description('check an ended session against its log, and mend it by appending')
    .argument('<id>')
    .option('--dry-run', 'only say what is wrong')
    .option('--json', 'as JSON')
    .action((id: string, options: RepairOptions) =>
      run(async (io) => (await import('../commands/sessions-repair.js')).repairSession(io, id, options)),
    )
}

function addSearch(sessions: Command, run: Run): void {
  sessions
    .command('search')
    .description('find a text in what was said')
    .argument('<text>')
    .option('-n, --limit <count>', 'at most this many places', toCount, 20)
    .option('--adapter <slug>', 'only in sessions of this adapter')
    .option('--workspace <slug>', 'only in sessions of this workspace')
    .option('--json', 'as JSON')
    .action((text: string, options: SearchOptions) =>
      run(async (io) => (await import('../commands/sessions-search.js')).searchSessions(io, text, options)),
    )
}

function addExport(sessions: Command, run: Run): void {
  sessions
    .command('export')
    .description('a session with its whole log, to keep or to import elsewhere; or as a text to read')
    .argument('<id>')
    .addOption(
      new Option('--format <format>', 'jsonl or json to import again, md to read')
        .choices(['jsonl', 'json', 'md'])
        .default('jsonl'),
    )
    .option('-o, --output <file>', 'into this new file (default: stdout)')
    .option('--force', 'write over a file that is there')
    .action((id: string, options: ExportOptions) =>
      run(async (io) => (await import('../commands/sessions-export.js')).exportSession(io, id, options)),
    )
  sessions
    .command('import')
    .description('take in an export (jsonl or json) and print the id of the session')
    .argument('<file>', '- reads it from stdin')
    .option('--json', 'print the whole session as JSON')
    .action((file: string, options: JsonOption) =>
      run(async (io) => (await import('../commands/sessions-export.js')).importSession(io, file, options)),
    )
}

const UNITS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 }

/** A span in milliseconds. A bare number is refused: nobody knows whether days or seconds are meant. */
function toSpan(text: string): number {
  const [, count, unit] = /^(\d{1,6})([smhdw])$/.exec(text) ?? []
  if (count === undefined || unit === undefined) throw new InvalidArgumentError('Write it as 30d, 12h or 90m.')
  return Number(count) * (UNITS[unit] ?? 0)
}
