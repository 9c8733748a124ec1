import type { ToolWord } from './tool-words.js'
import { OUTSIDE_SANDBOX } from './tool-input.js'
import { addPatch } from './patch-text.js'

/**
 * Codex's code mode: one tool, `exec`, that takes JavaScript in which the real tools are functions.
 * @returns the program for a word
 */
export function codeModeCall(word: Exclude<ToolWord['word'], 'CALL'>, argument: string, outside: boolean): string {
  const shell = (cmd: string): string =>
    `text(await tools.exec_command(${JSON.stringify({ cmd, ...(outside && OUTSIDE_SANDBOX) })}))`
  switch (word) {
    case 'RUN':
      return shell(argument)
    case 'READ':
      return shell(`cat ${argument}`)
    case 'EDIT':
      return shell(`sed -i s/mock/MOCK/ ${argument}`)
    case 'WRITE':
      return `text(await tools.apply_patch(${JSON.stringify(addPatch(argument))}))`
    case 'PLAN':
      return `text(await tools.update_plan(${JSON.stringify({ plan: CODE_MODE_PLAN })}))`
    case 'ASK':
      return `text(${JSON.stringify(argument)})`
  }
}

const CODE_MODE_PLAN = [
  { step: 'first step', status: 'completed' },
  { step: 'second step', status: 'in_progress' },
] as const
