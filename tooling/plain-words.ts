import type { SourceFile } from './source-files.ts'

/**
 * Words that this project does not use, because they stand for five things at once or sound like a translation, each with
 * what to write instead. Matched as whole words, inside of identifiers too: `tellOwner` has the word `tell`. `mended` is
 * missing here because it is a field on the wire.
 */
const REPLACED_WORDS: Readonly<Record<string, string>> = {
  anew: 'again',
  birth: 'creation',
  born: 'created',
  desk: 'PendingRequests, or the name of the collection',
  door: 'access check, entry point',
  doors: 'access checks, entry points',
  ground: 'workspace roots, context, setup',
  grounds: 'workspace roots, contexts',
  heed: 'respect, handle',
  heeds: 'respects, handles',
  journal: 'event log',
  mend: 'fix',
  mending: 'fixing',
  mends: 'fixes',
  nobody: 'no one, no client, or a sentence with its real subject',
  owe: 'pendingWrites',
  owed: 'pending',
  owes: 'has pending',
  prefaces: 'prompt contexts',
  shelf: 'cache',
  spine: 'event log',
  'taken up': 'resumed',
  'takes up': 'resumes',
  'take up': 'resume',
  tell: 'log, report, return, emit or notify',
  telling: 'logging, reporting, returning, emitting or notifying',
  tells: 'logs, reports, returns, emits or notifies',
  told: 'logged, reported, returned, emitted or notified',
  'turned away': 'rejected',
  unheeded: 'ignored',
  untold: 'not reported',
  whoever: 'the caller, the client, the user',
}

const PATTERN = new RegExp(`\\b(?:${Object.keys(REPLACED_WORDS).join('|')})\\b`, 'g')

/** A member of an answer, which keeps its name: it is part of the API. */
const WIRE_MEMBER = /\bmended(?=[:,}')]| [}?])/g

/** Where a file uses a replaced word: `path:line word → what to write instead`. */
export function replacedWords({ path, text }: SourceFile): readonly string[] {
  return text
    .split('\n')
    .flatMap((line, at) =>
      (spaced(line.replaceAll(WIRE_MEMBER, '')).match(PATTERN) ?? []).map(
        (word) => `${path}:${at + 1} ${word} → ${REPLACED_WORDS[word]}`,
      ),
    )
}

/** `tellOwner` and `TELL_OWNER` as the words that they are made of. */
const spaced = (line: string): string =>
  line
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .toLowerCase()
