// Gemini CLI without ACP. This file is the package's contract: every export is named here, and the default is AIP-45's.
import { GeminiCliAdapter } from './gemini-cli-adapter.js'

export { GeminiCliAdapter }
export default GeminiCliAdapter
