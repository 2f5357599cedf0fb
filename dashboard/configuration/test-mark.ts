/** Signs the mark of a test for the person who asks: their page view and their install are then in no figure. */

import { issueTestMark, TEST_MARK_MS, type TestKeys } from '../../domain/collection/test-mark.ts'
import { refuse } from '../../domain/errors.ts'
import { answerCreated, type CallTo } from '../http/call.ts'
import type { Directory } from '../resources/directory.ts'

export interface TestParts {
  readonly directory: Pick<Directory, 'websites'>
  readonly keys: Pick<TestKeys, 'testHash'> & { readonly personId: (email: string) => string }
}

/** Name of the part of a page's address that carries it; the SDK looks for it (`sdk/keeper/keeper.ts`). */
const FRAGMENT = '_whence_test'

export function createTestMark({ directory, keys }: TestParts) {
  return async ({ scope, params, session, nowMs }: CallTo<'createTestMark'>) => {
    const organization = scope.organization.id
    const website = directory.websites(organization).find(({ id }) => id === params.website)
    if (website === undefined) return refuse('not_found')
    const tester = { organization, website: website.id, person: keys.personId(session.email) }
    const mark = issueTestMark(keys, tester, nowMs)
    const [page = { origin: website.primaryOrigin, path: '/' }] = website.pages
    return answerCreated({
      mark,
      expiresAt: nowMs + TEST_MARK_MS,
      link: `${page.origin}${page.path}#${FRAGMENT}=${mark}`,
    })
  }
}
