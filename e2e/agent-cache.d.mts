export interface PinnedAgent {
  readonly package: string
  readonly version: string
  /** Path below node_modules of the program itself, on the platform that has it so. */
  readonly native?: string
  /** It has no `--version`: that it is installed is all that is known. */
  readonly mute?: boolean
}
type PinnedName = 'opencode' | 'codex' | 'codex-acp' | 'gemini' | 'acpx' | 'conformance' | 'inspector'
export declare const PINNED_AGENTS: Readonly<Record<PinnedName, PinnedAgent>>
export declare const cacheFolder: string
export declare function agentFolder(name: keyof typeof PINNED_AGENTS): string
export declare function installedAgent(name: keyof typeof PINNED_AGENTS): string | undefined
