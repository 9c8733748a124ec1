/** What the text of a regular expression says, without running it. */
export interface RegexShape {
  readonly groups: number
  /** Deepest nesting of groups. */
  readonly depth: number
  /** Atoms after counted repetitions are written out. */
  readonly weight: number
  /** A repeated group that itself ends in a repetition, such as `(a+)+`. */
  readonly nestedRepetition: boolean
}

// Beyond these, V8 ends the whole process (not with an exception) when the expression is first run.
const DEPTH_MAX = 20
const WEIGHT_MAX = 10_000

/**
 * Why a manifest's regular expression cannot be used to find a version, or nothing. It is only parsed here,
 * never run: V8 compiles at the first run, and a hostile expression ends the process there.
 */
export function regexProblem(pattern: string): string | undefined {
  try {
    new RegExp(pattern)
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message.replace(/^Invalid regular expression: /, '') : 'it is not valid'
  }
  const { groups, depth, weight } = regexShape(pattern)
  if (groups === 0) return 'it has no group around the version'
  return depth > DEPTH_MAX || weight > WEIGHT_MAX ? 'it is too complex' : undefined
}

/** A group that is open, or the whole expression. */
interface Frame {
  weight: number
  /** Whether the last element repeats without bound. */
  endsRepeated: boolean
}

/** An escape, a class, or any one character; then what repeats it. */
const ATOM = /\\[^]|\[\^?(?:\\.|[^\]\\])*\]|[^]/y
const QUANTIFIER = /(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/y

/** Walks a valid expression once. */
export function regexShape(pattern: string): RegexShape {
  const frames: Frame[] = [{ weight: 0, endsRepeated: false }]
  let groups = 0
  let depth = 0
  let nestedRepetition = false
  for (let at = 0; at < pattern.length;) {
    if (pattern[at] === '(') {
      if (isCapturing(pattern, at)) groups++
      depth = Math.max(depth, frames.length)
      frames.push({ weight: 1, endsRepeated: false })
      at++
      continue
    }
    const closed = pattern[at] === ')' ? frames.pop() : undefined
    at += lengthOf(matchAt(ATOM, pattern, at))
    const quantifier = matchAt(QUANTIFIER, pattern, at)
    at += lengthOf(quantifier)
    const isNested = addElement(frames.at(-1), closed ?? { weight: 1, endsRepeated: false }, readQuantifier(quantifier))
    nestedRepetition ||= isNested
  }
  return { groups, depth, weight: frames[0]?.weight ?? 0, nestedRepetition }
}

/** Adds an element to its group; returns whether a repetition is repeated. */
function addElement(frame: Frame | undefined, element: Frame, { times, unbounded }: Quantifier): boolean {
  if (frame === undefined) return false
  frame.weight += element.weight * times
  frame.endsRepeated = unbounded || element.endsRepeated
  return unbounded && element.endsRepeated
}

const isCapturing = (pattern: string, at: number): boolean =>
  pattern[at + 1] !== '?' || (pattern[at + 2] === '<' && pattern[at + 3] !== '=' && pattern[at + 3] !== '!')

interface Quantifier {
  readonly times: number
  readonly unbounded: boolean
}

function readQuantifier(match: RegExpExecArray | null): Quantifier {
  if (match === null) return { times: 1, unbounded: false }
  const [text, least, comma, most] = match
  if (least === undefined) return { times: 1, unbounded: !text.startsWith('?') }
  const unbounded = comma !== undefined && most === ''
  return { times: Math.max(1, Number(most === undefined || unbounded ? least : most)), unbounded }
}

function matchAt(sticky: RegExp, text: string, at: number): RegExpExecArray | null {
  sticky.lastIndex = at
  return sticky.exec(text)
}

const lengthOf = (match: RegExpExecArray | null): number => match?.[0].length ?? 0
