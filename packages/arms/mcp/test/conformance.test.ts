import { testArm } from '@agentproto/arm-testing'
import { subject } from './subject.ts'

testArm('an agent that is an MCP server', subject)
