/** Which coding agent ran an install, as far as the hook said so. */

import { CODING_AGENTS, type CodingAgent } from '../model.ts'

const AGENT = /^whence-hook\/[^ ]{1,32} agent\/([a-z-]{1,32})$/

/**
 * Reads the hook's `User-Agent`. A name that is not in the list, which a newer hook may send, is `other`. Null if the hook
 * named no agent, or if something else sent the report.
 */
export function codingAgentOf(userAgent: string): CodingAgent | null {
  const name = AGENT.exec(userAgent)?.[1]
  if (name === undefined) return null
  return CODING_AGENTS.find((each) => each === name) ?? 'other'
}
