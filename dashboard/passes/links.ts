/** Lists, makes and revokes share links. */

import { sha256Hex } from '../../common/digest.ts'
import { shownName } from '../../domain/catalog/objects.ts'
import { refuseField } from '../../domain/errors.ts'
import { listIn } from '../../domain/guards.ts'
import { areFilters, readFilters } from '../../domain/figures/filters.ts'
import { PERIOD_NAMES } from '../../domain/figures/periods.ts'
import { hashOfPass, PASS_BYTES } from '../../domain/people/pass.ts'
import { isSharedFilter, sharedFiltersOf, sharedFilterTexts, shareToken } from '../../domain/people/share-link.ts'
import { refIn } from '../../domain/resources/resources.ts'
import type { LINK_ADMIN_ROUTES } from '../api/links.ts'
import { createObject, notTriedOut } from '../configuration/write.ts'
import { answer, answerCreated, type CallTo, type HandlersOf } from '../http/call.ts'
import type { DirectoryWebsite } from '../resources/directory.ts'
import type { ListedObject } from '../resources/inventory.ts'
import { answeredPass, namesInForce, revokePass, type PassAdminParts } from './passes.ts'

export function linkAdminHandlers(parts: PassAdminParts): HandlersOf<typeof LINK_ADMIN_ROUTES> {
  return {
    shareLinks: listLinks(parts),
    createShareLink: createLink(parts),
    revokeShareLink: revokePass(parts.writing, 'ShareLink'),
  }
}

function listLinks({ directory, writing: { inventory } }: PassAdminParts) {
  return async (call: CallTo<'shareLinks'>) => {
    const inForce = namesInForce(directory.passes().shareLinks, call)
    const websites = directory.websites(call.scope.organization.id)
    const links = inventory.list('ShareLink', call.scope.organization.id).map((object) => {
      return {
        ...answeredPass(object, inForce.has(shownName(object))),
        ...answeredReport(object, websites),
        object: `ShareLink/${shownName(object)}`,
      }
    })
    return answer({ links })
  }
}

/** As far as it can be read. */
function answeredReport({ namespace, spec }: ListedObject, websites: readonly DirectoryWebsite[]) {
  const { name = '' } = refIn(spec, 'websiteRef')
  const website = websites.find((each) => each.namespace === namespace && each.objectName === name)
  const filter = sharedFilterTexts(listIn(spec, 'filters').filter(isSharedFilter))
  return {
    website: website?.displayName ?? name,
    period: PERIOD_NAMES.find((name) => name === spec['period']) ?? ('' as const),
    filter: 'code' in filter ? [] : filter,
  }
}

function createLink({ directory, writing }: PassAdminParts) {
  return async (call: CallTo<'createShareLink'>) => {
    const { displayName, website: id, period, filter, expiresAt } = call.body
    const { organization } = call.scope
    const website = directory.websites(organization.id).find((each) => each.id === id)
    if (website === undefined) return refuseField('/website', 'there is no such website in the organisation')
    if (website.namespace !== organization.namespace)
      return refuseField('/website', 'lies in another namespace than the organisation: apply a ShareLink there')
    const filters = readFilters(filter)
    if (!areFilters(filters)) return filters
    const token = shareToken(writing.randomness.bytes(PASS_BYTES))
    const spec = {
      websiteRef: { name: website.objectName },
      displayName,
      period,
      filters: sharedFiltersOf(filters),
      expiresAt,
      tokenHash: hashOfPass(token, sha256Hex),
    }
    const made = notTriedOut(await createObject(writing, call, { kind: 'ShareLink', spec }))
    if (made.kind === 'refused') return made
    const { namespace, name, warnings } = made.body
    return answerCreated({ namespace, name, path: `/share/${token}`, warnings })
  }
}
