import { EXIT } from '@agentproto/contracts'
import type { Command } from 'commander'
import { completing } from '../completion/candidates.js'
import { namesOf } from '../completion/nouns.js'
import { completionScript, type Shell } from '../completion/scripts.js'
import { print, type Io } from '../io.js'
import { oneLine } from '../render/printable.js'

/** `agentproto completion`: the script, to be sourced. */
export function printCompletion(io: Io, shell: Shell): Promise<number> {
  print(io.stdout, completionScript(shell).trimEnd())
  return Promise.resolve(EXIT.ok)
}

/** `agentproto complete`, which the scripts call: a word and its description a line. */
export async function complete(io: Io, program: Command, words: readonly string[]): Promise<number> {
  const { candidates, noun } = completing(program, words)
  const typed = words.at(-1) ?? ''
  const names = noun === undefined ? [] : await namesOf(io, noun)
  const all = [...candidates, ...names.filter(({ word }) => word.startsWith(typed))]
  if (all.length > 0)
    print(
      io.stdout,
      all.map(({ word, description }) => `${word}\t${oneLine(description)}`),
    )
  return EXIT.ok
}
