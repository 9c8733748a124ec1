import { type SaxesAttributeNS, SaxesParser, type SaxesTagNS } from 'saxes'
import { SvgWriter } from './svg-writer.js'

/** A drawing that can be shown as an image, or why there is none. */
export type SanitisedSvg = { readonly ok: true; readonly svg: string } | { readonly ok: false; readonly reason: string }

/** Of a drawing as it is loaded. Icons have a few thousand bytes. */
export const ICON_BYTES_MAX = 256 * 1024

/**
 * Copies only the shapes, colours and gradients of a drawing. It is read by the rules of XML, without repairing anything:
 * what is not well-formed, or defines entities, is no icon. Never throws for its content.
 */
export function sanitiseSvg(bytes: Uint8Array): SanitisedSvg {
  if (bytes.byteLength > ICON_BYTES_MAX) return refused(`it is larger than ${ICON_BYTES_MAX / 1024} KiB`)
  try {
    return { ok: true, svg: written(new TextDecoder('utf-8', { fatal: true }).decode(bytes)) }
  } catch (thrown) {
    return refused(thrown instanceof TypeError ? 'it is not UTF-8' : reasonOf(thrown))
  }
}

/** @throws with the reason */
function written(text: string): string {
  const parser = new SaxesParser({ xmlns: true })
  const writer = new SvgWriter()
  parser.on('doctype', (doctype) => {
    // Where entities are defined, of which few can be many.
    if (doctype.includes('[')) throw new Error('it has a document type of its own')
  })
  parser.on('opentag', ({ uri, local, attributes }: SaxesTagNS) =>
    writer.open({ uri, local, attributes: Object.values(attributes).map(attributeOf) }),
  )
  parser.on('closetag', () => writer.close())
  parser.write(text).close()
  return writer.text()
}

const attributeOf = ({ uri, local, value }: SaxesAttributeNS) => ({ uri, local, value })

const refused = (reason: string): SanitisedSvg => ({ ok: false, reason })

const REASON_CHARS_MAX = 200

/** What the parser says begins with line and column, and may quote the drawing. */
const reasonOf = (thrown: unknown): string =>
  (thrown instanceof Error ? thrown.message : String(thrown))
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ')
    .slice(0, REASON_CHARS_MAX)
