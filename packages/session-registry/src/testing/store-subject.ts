/** A store to be tested, and how a test gets at what it keeps. */
export interface StoreSubject<Store, Place> {
  /** Registers one test: `test` of vitest, of `node:test`, or whatever else takes a title and a function. */
  readonly test: (title: string, run: () => Promise<void>) => unknown
  /** Somewhere that keeps nothing yet, such as an empty folder: one for each test, which does not clean up after itself. */
  readonly place: () => Promise<Place> | Place
  /**
   * Opens a store on what the place keeps, as a host does at its start. Called again for the same place, it stands for
   * the next host, whose predecessor may have been killed: a store in memory returns the one it has.
   */
  readonly open: (place: Place) => Promise<Store> | Store
  /**
   * Damages what is kept of one session, as a disk does that loses power: of a log its last event is cut, of a record a
   * part. No store has the place open then. Without it, the tests of damage are left out.
   */
  readonly damage?: (place: Place, sessionId: string) => Promise<void> | void
}

/** Tests by their titles. */
export type StoreCases<Store> = Readonly<Record<string, (place: OpenedPlace<Store>) => Promise<void>>>

/** One test's place. */
interface OpenedPlace<Store> {
  open(): Promise<Store>
  damage(sessionId: string): Promise<void>
}

export interface Suite<Store> {
  readonly cases: StoreCases<Store>
  /** Called for each store that a test has opened, at its end. */
  readonly close?: (store: Store) => Promise<void>
}

export function registerCases<Store, Place>(
  name: string,
  subject: StoreSubject<Store, Place>,
  { cases, close }: Suite<Store>,
): void {
  for (const [title, run] of Object.entries(cases)) {
    subject.test(`${name}: ${title}`, async () => {
      const place = await subject.place()
      const opened: Store[] = []
      const open = async (): Promise<Store> => {
        const store = await subject.open(place)
        opened.push(store)
        return store
      }
      try {
        await run({ open, damage: async (sessionId) => subject.damage?.(place, sessionId) })
      } finally {
        for (const store of opened) await close?.(store)
      }
    })
  }
}
