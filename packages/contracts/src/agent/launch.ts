/** What is launched: directly, never through a shell. */
export interface Launch {
  /** Absolute path of an executable; ignored if the profile of the arm says that nothing is launched. */
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  /** Further folders of the agent, checked together with `cwd`. */
  readonly additionalDirectories?: readonly string[]
  /** The whole environment; nothing is inherited beside it. */
  readonly env: Readonly<Record<string, string>>
  /** Value of `AGENTPROTO_SESSION_ID` in `env`, used to find stray descendants. */
  readonly marker: string
}
