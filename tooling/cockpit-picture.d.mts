/** The picture of docs/cockpit.md, as SVG. */
export declare function cockpitPicture(): string
