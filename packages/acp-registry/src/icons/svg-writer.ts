import { isReference, isSafeId, isSafeValue } from './svg-value.js'
import { ATTRIBUTES, DRAWING_REFERENCES, ELEMENTS, PRESENTATION, SHAPES } from './svg-vocabulary.js'

const SVG = 'http://www.w3.org/2000/svg'
const XLINK = 'http://www.w3.org/1999/xlink'
const ELEMENTS_MAX = 2_000
const DEPTH_MAX = 32
/** A clip of a clip of a clip: each is drawn for each use of the one before. */
const REFERENCES_MAX = 16

export interface SvgAttribute {
  readonly uri: string
  readonly local: string
  readonly value: string
}

export interface SvgElement extends Omit<SvgAttribute, 'value'> {
  readonly attributes: readonly SvgAttribute[]
}

/** Writes the elements and attributes that an icon may have. What else is in them was never copied. */
export class SvgWriter {
  readonly #parts: string[] = []
  /** Names of the open elements; what is left out is not among them. */
  readonly #open: string[] = []
  /** How deep the reader is in an element that is left out. */
  #leftOut = 0
  #elements = 0
  #references = 0
  #shapes = 0

  /** @throws with the reason why the whole is no icon */
  open({ uri, local, attributes }: SvgElement): void {
    const isRoot = this.#elements === 0
    const isKnown = (uri === SVG || uri === '') && ELEMENTS.has(local) && (local === 'svg') === isRoot
    if (isRoot && !isKnown) throw new Error('it is no SVG')
    if (++this.#elements > ELEMENTS_MAX) throw new Error(`it has more than ${ELEMENTS_MAX} elements`)
    if (!isKnown || this.#leftOut > 0) return void this.#leftOut++
    if (this.#open.push(local) > DEPTH_MAX) throw new Error(`it is deeper than ${DEPTH_MAX} elements`)
    if (SHAPES.has(local)) this.#shapes += 1
    const kept = [...(isRoot ? [['xmlns', SVG] as const] : []), ...this.#attributesOf(attributes)]
    this.#parts.push(`<${local}${kept.map(([name, value]) => ` ${name}="${escaped(value)}"`).join('')}>`)
  }

  close(): void {
    if (this.#leftOut > 0) return void this.#leftOut--
    this.#parts.push(`</${this.#open.pop() ?? ''}>`)
  }

  /** @throws where there is nothing to draw */
  text(): string {
    if (this.#shapes === 0) throw new Error('it has no shape')
    return this.#parts.join('')
  }

  /** By name, each once: a declaration of `style` counts more than the attribute. */
  #attributesOf(attributes: readonly SvgAttribute[]): ReadonlyMap<string, string> {
    const style = attributes.find(({ uri, local }) => uri === '' && local === 'style')?.value ?? ''
    const own = attributes.filter(isKept).map(({ local, value }) => [local, value] as const)
    const kept = new Map([...own, ...declarationsOf(style)])
    for (const [name, value] of kept) this.#count(name, value)
    return kept
  }

  #count(name: string, value: string): void {
    if (!DRAWING_REFERENCES.has(name) || !isReference(value)) return
    if (++this.#references > REFERENCES_MAX) throw new Error(`it has more than ${REFERENCES_MAX} clips and masks`)
  }
}

function isKept({ uri, local, value }: SvgAttribute): boolean {
  if (local === 'href') return (uri === XLINK || uri === '') && value.startsWith('#') && isSafeId(value.slice(1))
  if (uri !== '') return false
  return local === 'id' ? isSafeId(value) : ATTRIBUTES.has(local) && isSafeValue(value)
}

/** The declarations of a `style` that an attribute can have as well. A semicolon in a value only makes the rest unknown. */
const declarationsOf = (style: string): readonly (readonly [string, string])[] =>
  style.split(';').flatMap((declaration) => {
    const [name = '', value = ''] = declaration.split(/:(.*)/s).map((part) => part.trim())
    return PRESENTATION.has(name) && value !== '' && isSafeValue(value) ? [[name, value] as const] : []
  })

const ESCAPES: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

const escaped = (text: string): string => text.replaceAll(/[&<>"]/g, (character) => ESCAPES[character] ?? '')
