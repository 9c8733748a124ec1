/** Beginnings of rows, with the colour and weight of each. */
export type RowColours = readonly (readonly [start: RegExp, colour: string, weight?: string])[]

/** A captured screen, as SVG. */
export declare function screenPicture(
  screen: string,
  look: { readonly label: string; readonly colours: RowColours },
): string
