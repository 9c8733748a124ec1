/** The name of an adapter and of its folders: no path, and no hidden folder. */
export const ADAPTER_SLUG = /^[a-z0-9][a-z0-9-]{0,79}$/
