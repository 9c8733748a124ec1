import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { newId, type ToolUse } from './answer.js'
import { codeModeCall } from './code-mode.js'
import type { Conversation, Tool } from './conversation.js'
import { objectOf, parseJson } from './json.js'
import * as toolInput from './tool-input.js'

/** A word that makes the model use one of the agent's own tools. */
export interface ToolWord {
  readonly word: 'WRITE' | 'EDIT' | 'READ' | 'RUN' | 'ASK' | 'PLAN' | 'CALL'
  readonly argument: string
  /** Of CALL: the input as JSON. */
  readonly input?: string
}

const WORDS = /\b(?:(WRITE|EDIT|READ) (\S+)|(RUN|ASK) ([^\n]+)|(PLAN)\b|(CALL) (\S+) (\{[^\n]*\}))/g

/** The tool words of a message, in order. */
export function toolWords(message: string): readonly ToolWord[] {
  return Array.from(message.matchAll(WORDS), ([, file, path = '', line, rest = '', plan, , tool = '', input = '']) => {
    if (file) return { word: file, argument: path } as ToolWord
    if (line) return { word: line, argument: rest.trim() } as ToolWord
    return plan ? { word: 'PLAN', argument: '' } : { word: 'CALL', argument: tool, input }
  })
}

/** What the tools of the known agents are called, best first. */
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

/** The call that a word asks for; none when the agent has no such tool. */
export function toolUse({ word, argument, input }: ToolWord, asked: Conversation, last: string): ToolUse | undefined {
  if (word === 'CALL') {
    const tool = asked.tools.find(({ name }) => name === argument) ?? { name: argument, kind: 'function', schema: {} }
    return use(tool, { input: objectOf(parseJson(input ?? '')) })
  }
  const outside = /\bESCALATE\b/.test(last)
  const tool = findTool(asked.tools, word)
  const code = asked.tools.find(({ name, kind }) => name === 'exec' && kind === 'custom')
  if (code && !tool) return use(code, { freeText: codeModeCall(word, argument, outside) })
  if (word === 'RUN') return tool && use(tool, { input: toolInput.shellInput(tool, argument, outside) })
  if (word === 'PLAN') return tool && use(tool, { input: toolInput.planInput(tool) })
  if (word === 'ASK') return tool && use(tool, { input: toolInput.questionInput(tool, argument) })
  const file = { path: absolutePath(argument, asked), name: argument }
  return tool ? fileUse(word, tool, file) : shellUse(word, file, asked.tools)
}

function use(tool: Tool, made: Pick<ToolUse, 'freeText'> | Pick<ToolUse, 'input'>): ToolUse {
  const { name, kind, namespace } = tool
  return { id: newId('call_'), name, kind, input: {}, ...(namespace !== undefined && { namespace }), ...made }
}

interface NamedFile {
  readonly path: string
  readonly name: string
}

function fileUse(word: 'WRITE' | 'EDIT' | 'READ', tool: Tool, { path, name }: NamedFile): ToolUse {
  if (word === 'READ') return use(tool, { input: toolInput.readInput(tool, path) })
  if (/patch/i.test(tool.name)) {
    const patch = word === 'WRITE' ? addPatch(name) : updatePatch(name)
    return use(tool, tool.kind === 'custom' ? { freeText: patch } : { input: toolInput.patchInput(tool, patch) })
  }
  if (word === 'EDIT') return use(tool, { input: toolInput.editInput(tool, path, ['mock', 'MOCK']) })
  return use(tool, { input: toolInput.writeInput(tool, path, `mock wrote ${name}\n`) })
}

/** An agent without file tools has a shell. */
function shellUse(word: 'WRITE' | 'EDIT' | 'READ', { path, name }: NamedFile, tools: readonly Tool[]): ToolUse | undefined {
  const shell = findTool(tools, 'RUN')
  const commands = {
    WRITE: `printf '%s\\n' 'mock wrote ${name}' > ${path}`,
    EDIT: `sed -i s/mock/MOCK/ ${path}`,
    READ: `cat ${path}`,
  }
  return shell && use(shell, { input: toolInput.shellInput(shell, commands[word], false) })
}

export const addPatch = (name: string): string =>
  `*** Begin Patch\n*** Add File: ${name}\n+mock wrote ${name}\n*** End Patch\n`

const updatePatch = (name: string): string =>
  `*** Begin Patch\n*** Update File: ${name}\n@@\n-mock wrote ${name}\n+MOCK wrote ${name}\n*** End Patch\n`

/**
 * Agents name their working folder somewhere in the conversation; their file tools want absolute paths. It
 * is one that exists here: prompts speak of other paths in the same words.
 */
function absolutePath(path: string, { system, messages }: Conversation): string {
  if (path.startsWith('/')) return path
  const everything = [system, ...messages.map(({ text }) => text)].join('\n')
  const named = everything.matchAll(/(?:working directory|cwd|current directory|workspace)[^\n/]{0,40}(\/[^\s<`"']+)/gi)
  const folder = Array.from(named, ([, found = '']) => found).find((found) => existsSync(found))
  return folder === undefined ? path : join(folder, path)
}
