// What of SVG an icon may have: shapes, colours and gradients. No text, no style sheet, no script, no animation, no filter,
// nothing that is loaded, and no `use`, whose copies of copies can be as many as one likes.

/** Elements that are drawn. */
export const SHAPES: ReadonlySet<string> = new Set(['path', 'circle', 'ellipse', 'rect', 'line', 'polyline', 'polygon'])

/** All elements. Any other is left out with everything in it. */
export const ELEMENTS: ReadonlySet<string> = new Set([
  ...SHAPES,
  'svg',
  'g',
  'defs',
  'clipPath',
  'mask',
  'linearGradient',
  'radialGradient',
  'stop',
])

/** Attributes that a declaration of `style` may be, too. */
export const PRESENTATION: ReadonlySet<string> = new Set([
  'clip-path',
  'clip-rule',
  'color',
  'display',
  'fill',
  'fill-opacity',
  'fill-rule',
  'mask',
  'mask-type',
  'opacity',
  'shape-rendering',
  'stop-color',
  'stop-opacity',
  'stroke',
  'stroke-dasharray',
  'stroke-dashoffset',
  'stroke-linecap',
  'stroke-linejoin',
  'stroke-miterlimit',
  'stroke-opacity',
  'stroke-width',
  'transform',
  'visibility',
])

const GEOMETRY =
  'viewBox preserveAspectRatio width height x y x1 x2 y1 y2 cx cy r rx ry fx fy fr d points pathLength offset ' +
  'gradientUnits gradientTransform spreadMethod clipPathUnits maskUnits maskContentUnits'

/** All attributes but `id`, `style` and `href`, which are checked in their own ways. */
export const ATTRIBUTES: ReadonlySet<string> = new Set([...PRESENTATION, ...GEOMETRY.split(' ')])

/** Attributes that draw what they refer to, so that they could be nested without end. */
export const DRAWING_REFERENCES: ReadonlySet<string> = new Set(['clip-path', 'mask'])
