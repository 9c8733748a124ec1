/** What the text of a regular expression tells without running it. */
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
 * never run: V8 compiles on the first run, and a hostile expression kills the process there.
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

interface Frame {
  weight: number
  /** Whether the last element repeats without bound. */
  endsRepeated: boolean
}

const CLASS = /\[\^?(?:\\.|[^\]\\])*\]/y
const QUANTIFIER = /(?:[*+?]|\{(\d+)(?:(,)(\d*))?\})\??/y

/** Walks a valid expression once. */
export function regexShape(pattern: string): RegexShape {
  const walk = new Walk()
  let at = 0
  while (at < pattern.length) {
    if (pattern[at] === '(') {
      walk.open(isCapturing(pattern, at))
      at += 1
      continue
    }
    const closes = pattern[at] === ')'
    at = closes ? at + 1 : atomEnd(pattern, at)
    const repeat = matchAt(QUANTIFIER, pattern, at)
    at += repeat?.[0].length ?? 0
    if (closes) walk.close(readQuantifier(repeat))
    else walk.atom(readQuantifier(repeat))
  }
  return walk.shape()
}

class Walk {
  readonly #frames: Frame[] = [{ weight: 0, endsRepeated: false }]
  #groups = 0
  #depth = 0
  #nestedRepetition = false

  open(capturing: boolean): void {
    if (capturing) this.#groups++
    this.#depth = Math.max(this.#depth, this.#frames.length)
    this.#frames.push({ weight: 1, endsRepeated: false })
  }

  close(quantifier: Quantifier): void {
    const closed = this.#frames.length > 1 ? this.#frames.pop() : undefined
    if (closed === undefined) return
    if (quantifier.unbounded && closed.endsRepeated) this.#nestedRepetition = true
    this.#add(closed, quantifier)
  }

  atom(quantifier: Quantifier): void {
    this.#add({ weight: 1, endsRepeated: false }, quantifier)
  }

  #add(element: Frame, { times, unbounded }: Quantifier): void {
    const frame = this.#frames.at(-1)
    if (frame === undefined) return
    frame.weight += element.weight * times
    frame.endsRepeated = unbounded || element.endsRepeated
  }

  shape(): RegexShape {
    const weight = this.#frames[0]?.weight ?? 0
    return { groups: this.#groups, depth: this.#depth, weight, nestedRepetition: this.#nestedRepetition }
  }
}

interface Quantifier {
  readonly times: number
  readonly unbounded: boolean
}

const isCapturing = (pattern: string, at: number): boolean =>
  pattern[at + 1] !== '?' || (pattern[at + 2] === '<' && pattern[at + 3] !== '=' && pattern[at + 3] !== '!')

function atomEnd(pattern: string, at: number): number {
  if (pattern[at] === '\\') return at + 2
  return at + (pattern[at] === '[' ? (matchAt(CLASS, pattern, at)?.[0].length ?? 1) : 1)
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
