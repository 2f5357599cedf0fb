/** Handlers about configuration: objects of all kinds, Secrets that are only written, new organisations, and tests of the set-up. */

import type { CONFIGURATION_ROUTES } from '../api/configuration.ts'
import type { HandlersOf } from '../http/call.ts'
import { listResources, readResource } from './read.ts'
import { createSecret } from './secrets.ts'
import { signUp, type SignUpParts } from './sign-up.ts'
import { createTestMark, type TestParts } from './test-mark.ts'
import { changeResource, createResource, removeResource, type WriteParts } from './write.ts'

export function configurationHandlers(
  parts: WriteParts,
  joining: SignUpParts,
  testing: TestParts,
): HandlersOf<typeof CONFIGURATION_ROUTES> {
  return {
    resources: listResources(parts),
    createResource: createResource(parts),
    resource: readResource(parts),
    changeResource: changeResource(parts),
    removeResource: removeResource(parts),
    createSecret: createSecret(parts),
    createTestMark: createTestMark(testing),
    signUp: signUp(joining),
  }
}
