import { testKeeper } from '@agentproto/keeper/testing'
import { test } from 'vitest'
import { keeperFolder, startProgram } from './keeper-process.ts'

testKeeper('16.1 agentproto-keeper', { test, start: (bounds) => startProgram(keeperFolder(), bounds) })
