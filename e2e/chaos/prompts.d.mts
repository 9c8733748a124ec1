/** What a turn says, without what differs between two sessions. */
export declare class TurnContent {
  constructor(cwd: string)
  take(event: object): void
  lanes(): string[][]
}
