import { createChangeStore } from '@agentproto/changes'
import { testChangeStore } from '@agentproto/changes/testing'
import { test } from 'vitest'

testChangeStore('13 the git store', { test, open: (home) => createChangeStore({ home }) })
