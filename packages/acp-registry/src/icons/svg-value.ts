/** The functions of colours and transformations. */
const FUNCTION =
  /\b(?:rgba?|hsla?|hwb|lab|lch|oklab|oklch|matrix|translate[XY]?|scale[XY]?|rotate|skew[XY]?)\([\w\s.,%+/-]*\)/gi
/** Refers to an element of the same document; a colour may follow, for when it is missing. */
const REFERENCE = /^url\(\s*(["']?)#[\w.:-]{1,100}\1\s*\)(?=\s|$)/
/** Numbers, words and colours. No backslash, by which CSS hides a word, and nothing that begins a function or a comment. */
const PLAIN = /^[\w\s#.,;%+-]*$/

/** Whether the value of an attribute loads nothing and calls nothing but functions of colours and transformations. */
export const isSafeValue = (value: string): boolean => PLAIN.test(value.replace(REFERENCE, '').replaceAll(FUNCTION, ''))

/** Whether a value refers to an element. */
export const isReference = (value: string): boolean => REFERENCE.test(value)

/** An `id`, or what refers to it with `#` before it. */
export const isSafeId = (value: string): boolean => /^[\w.:-]{1,100}$/.test(value)
