// What authors of stores test them with, under any test runner. This file is the entry's contract: every export is named here.
export { testEventStore } from './testing/test-event-store.js'
export { testSessionStore } from './testing/test-session-store.js'
export type { StoreSubject } from './testing/store-subject.js'
