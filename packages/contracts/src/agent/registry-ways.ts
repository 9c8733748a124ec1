/** How an agent of the registry can be had, in the order in which it is tried: from npm, from PyPI, or as a file of its own. */
export const REGISTRY_WAYS = ['npx', 'uvx', 'binary'] as const
export type RegistryWay = (typeof REGISTRY_WAYS)[number]
