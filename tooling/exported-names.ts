import { withoutComments } from './source-files.ts'

/** Names that a module exports, in its order; types too. */
export function exportedNames(text: string): readonly string[] {
  const code = withoutComments(text)
  const lists = [...code.matchAll(/^export\s+(?:type\s+)?\{([^}]*)\}/gm)].flatMap(([, list = '']) => listed(list))
  const declared = [...code.matchAll(DECLARED)].map(([, name = '']) => name)
  const whole = [...code.matchAll(/^export\s+\*.*$/gm)].map(([line]) => line)
  return [...lists, ...declared, ...whole]
}

const DECLARED =
  /^export\s+(?:declare\s+)?(?:abstract\s+)?(?:async\s+)?(?:const|let|function\*?|class|interface|type|enum)\s+([\w$]+)/gm

/** `a, type B, c as d` → `a B d`. */
function listed(list: string): readonly string[] {
  return list
    .split(',')
    .map((each) => each.trim().replace(/^type\s+/, ''))
    .filter((each) => each !== '')
    .map((each) => each.split(/\s+as\s+/).at(-1) ?? each)
}
