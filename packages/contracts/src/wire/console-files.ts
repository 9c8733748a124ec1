/** A file of the web console, ready to be sent. */
export interface ConsoleFile {
  readonly type: string
  readonly bytes: Uint8Array<ArrayBuffer>
  /** The same, compressed with gzip, where that is smaller. */
  readonly gzipped?: Uint8Array<ArrayBuffer>
  /** Its name has a digest of its content: it never changes. */
  readonly isHashed: boolean
}

/**
 * The built console.
 * @param path below the console's own address; '' for its page
 * @returns undefined for a path that the build does not have
 */
export type ConsoleFiles = (path: string) => Promise<ConsoleFile | undefined>
