/** Patches as `apply_patch` takes them. */

export const addPatch = (name: string): string =>
  `*** Begin Patch\n*** Add File: ${name}\n+mock wrote ${name}\n*** End Patch\n`

export const updatePatch = (name: string): string =>
  `*** Begin Patch\n*** Update File: ${name}\n@@\n-mock wrote ${name}\n+MOCK wrote ${name}\n*** End Patch\n`
