export declare function watchAgents(
  fault: (what: string) => void,
  read?: () => ReadonlyMap<string, ReadonlySet<string>>,
): { readonly looks: number; stop(): void }
