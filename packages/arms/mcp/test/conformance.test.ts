import { testArm } from '@agentproto/arm-testing'
import { MemoryKeeper } from '../../../../tooling/memory-keeper.ts'
import { subject } from './subject.ts'

testArm('an agent that is an MCP server', { ...subject, keeper: () => new MemoryKeeper() })
