// Any prompt in a terminal. This file is the package's contract: every export is named here, and the default is AIP-45's.
import { PtyReplAdapter } from './pty-repl-adapter.js'

export { PtyReplAdapter }
export default PtyReplAdapter
