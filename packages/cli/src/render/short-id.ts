/** Ids are random, so that their first characters name one among hundreds. */
const SHORT_ID = 10

export const shortId = (id: string): string => id.slice(0, SHORT_ID)
