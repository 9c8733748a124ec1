import type { ContentBlock } from '@agentclientprotocol/sdk'

/** The text of a prompt; what is no text is named by a short placeholder. */
export const promptText = (prompt: readonly ContentBlock[]): string => prompt.map(blockText).join('\n')

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text
    case 'resource_link':
      return `[${block.name}](${block.uri})`
    case 'resource':
      return 'text' in block.resource ? block.resource.text : `[resource ${block.resource.uri}]`
    default:
      return `[${block.type}]`
  }
}

/** One word and what follows it. */
export interface Step {
  readonly word: string
  readonly argument: string
  readonly text: string
}

/** What a host says before the words of the person: sentences in brackets, each on a line of its own. */
const NOTES = /^(?:\[[^\n]*\.\]\n)+/

/** The steps of a prompt, which `;` separates; `\;` is a literal one. */
export function promptSteps(text: string): readonly Step[] {
  return text
    .replace(NOTES, '')
    .split(/(?<!\\);/)
    .map((part) => part.replaceAll('\\;', ';').trim())
    .filter((part) => part !== '')
    .map(toStep)
}

function toStep(text: string): Step {
  const [, word = '', argument = ''] = /^(\S+)\s*([^]*)$/.exec(text) ?? []
  return { word, argument, text }
}
