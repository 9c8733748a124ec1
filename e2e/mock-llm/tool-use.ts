import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { newId, type ToolUse } from './answer.js'
import { codeModeCall } from './code-mode.js'
import type { Conversation, Tool } from './conversation.js'
import { objectOf, parseJson } from './json.js'
import { addPatch, updatePatch } from './patch-text.js'
import * as toolInput from './tool-input.js'
import type { ToolWord } from './tool-words.js'

/** The names of the tools of the known agents, best first. */
const NAMES: Readonly<Record<Exclude<ToolWord['word'], 'CALL'>, readonly RegExp[]>> = {
  WRITE: [
    /^(write|write_?file|create|create_?file|fs_write)$/i,
    /^(apply_patch|patch)$/i,
    /^(str_replace.*|edit|edit_?file|replace)$/i,
  ],
  EDIT: [/^(edit|edit_?file|replace|str_replace.*|search_replace)$/i, /^(apply_patch|patch)$/i],
  READ: [/^(read|read_?file|view|fs_read)$/i],
  RUN: [/^(bash|shell|run_shell_command|exec_command|shell_command|local_shell|terminal)$/i, /bash|shell|command/i],
  PLAN: [/^(todo_?write|write_todos|update_plan|todos?|todolist|set_?todo_?list)$/i, /todo|update_?plan/i],
  ASK: [/^(ask_?user_?question|ask_?user|question|request_user_input|ask.*)$/i],
}

function findTool(tools: readonly Tool[], word: keyof typeof NAMES): Tool | undefined {
  for (const name of NAMES[word]) {
    const found = tools.find((tool) => name.test(tool.name))
    if (found) return found
  }
  return undefined
}

/** The call for a word; undefined when the agent has no such tool. */
export function toolUse(asked: Conversation, word: ToolWord, last: string): ToolUse | undefined {
  if (word.word === 'CALL') return exactUse(asked, word)
  const outside = /\bESCALATE\b/.test(last)
  const tool = findTool(asked.tools, word.word)
  const code = asked.tools.find(({ name, kind }) => name === 'exec' && kind === 'custom')
  if (code && !tool) return use(code, { freeText: codeModeCall(word.word, word.argument, outside) })
  switch (word.word) {
    case 'RUN':
      return tool && use(tool, { input: toolInput.shellInput(tool, word.argument, outside) })
    case 'PLAN':
      return tool && use(tool, { input: toolInput.planInput(tool) })
    case 'ASK':
      return tool && use(tool, { input: toolInput.questionInput(tool, word.argument) })
    default: {
      const file = { path: absolutePath(word.argument, asked), name: word.argument }
      return tool ? fileUse(word.word, tool, file) : shellUse(word.word, file, asked.tools)
    }
  }
}

/** CALL names a tool verbatim, even one that does not exist. */
function exactUse({ tools }: Conversation, { argument: name, input = '' }: ToolWord): ToolUse {
  const tool = tools.find((one) => one.name === name) ?? { name, kind: 'function', schema: {} }
  return use(tool, { input: objectOf(parseJson(input)) })
}

function use(tool: Tool, made: Pick<ToolUse, 'freeText'> | Pick<ToolUse, 'input'>): ToolUse {
  const { name, kind, namespace } = tool
  return { id: newId('call_'), name, kind, input: {}, ...(namespace !== undefined && { namespace }), ...made }
}

interface NamedFile {
  readonly path: string
  readonly name: string
}

type FileWord = 'WRITE' | 'EDIT' | 'READ'

function fileUse(word: FileWord, tool: Tool, { path, name }: NamedFile): ToolUse {
  if (word === 'READ') return use(tool, { input: toolInput.readInput(tool, path) })
  if (/patch/i.test(tool.name)) {
    const patch = word === 'WRITE' ? addPatch(name) : updatePatch(name)
    return use(tool, tool.kind === 'custom' ? { freeText: patch } : { input: toolInput.patchInput(tool, patch) })
  }
  if (word === 'EDIT') return use(tool, { input: toolInput.editInput(tool, path, ['mock', 'MOCK']) })
  return use(tool, { input: toolInput.writeInput(tool, path, `mock wrote ${name}\n`) })
}

/** An agent without file tools has a shell. */
function shellUse(word: FileWord, { path, name }: NamedFile, tools: readonly Tool[]): ToolUse | undefined {
  const shell = findTool(tools, 'RUN')
  const commands = {
    WRITE: `printf '%s\\n' 'mock wrote ${name}' > ${path}`,
    EDIT: `sed -i s/mock/MOCK/ ${path}`,
    READ: `cat ${path}`,
  }
  return shell && use(shell, { input: toolInput.shellInput(shell, commands[word], false) })
}

/** Not a folder of the root: `/commands` in a prompt is not a path, and writing there would create it. */
const DEEP = /^\/[^/]+\/./

/**
 * Agents name their working folder somewhere in the conversation; their file tools want absolute paths. It
 * must exist here: prompts mention other paths in the same words.
 */
function absolutePath(path: string, { system, messages }: Conversation): string {
  if (path.startsWith('/')) return path
  const everything = [system, ...messages.map(({ text }) => text)].join('\n')
  const named = everything.matchAll(/(?:working directory|cwd|current directory|workspace)[^\n/]{0,40}(\/[^\s<`"']+)/gi)
  const folder = Array.from(named, ([, found = '']) => found).find((found) => DEEP.test(found) && existsSync(found))
  return folder === undefined ? path : join(folder, path)
}
