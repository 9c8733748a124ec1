// What authors of change stores test them with, under any test runner. This file is the entry's contract: every export is named here.
export { testChangeStore } from './testing/test-change-store.js'
export type { ChangeStoreSubject } from './testing/test-change-store.js'
