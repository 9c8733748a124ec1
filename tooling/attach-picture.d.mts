/** The picture of the README, as SVG. */
export declare function attachPicture(): string
