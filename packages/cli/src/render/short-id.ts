/** Ids are random: ten characters distinguish hundreds of them. */
const SHORT_ID = 10

export const shortId = (id: string): string => id.slice(0, SHORT_ID)
