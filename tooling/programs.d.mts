export declare const PROGRAM_NAMES: readonly string[]
export declare function howToGet(name: string): string
export declare function findProgram(name: string): string | undefined
export declare function missingPackages(which: { readonly optional: boolean }): readonly string[]
