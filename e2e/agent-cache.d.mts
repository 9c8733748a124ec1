export declare const PINNED_AGENTS: Readonly<Record<'opencode' | 'codex' | 'gemini', { readonly package: string; readonly version: string }>>
export declare const cacheFolder: string
export declare function agentFolder(name: keyof typeof PINNED_AGENTS): string
export declare function installedAgent(name: keyof typeof PINNED_AGENTS): string | undefined
