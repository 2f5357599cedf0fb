/** The trail that people leave: their changes are signed, and what changes no object is noted. */

import { sha256Hex } from '../../common/digest.ts'
import { changedByText } from '../../domain/people/changed-by.ts'
import { specDigest } from '../../domain/resources/spec-digest.ts'
import type { OrganizationCall, PersonCall } from '../http/call.ts'
import type { WriteManner } from '../resources/writer.ts'
import type { NoteActivity } from './activity.ts'

export interface Trail {
  readonly note: NoteActivity
  /** Signs what the person writes, so that the activity can name them. */
  readonly sign: (call: PersonCall) => NonNullable<WriteManner['sign']>
  /** Records the removal of an object before it happens, since nothing is left of it afterwards. Rejects if the log refuses it. */
  readonly noteRemoval: (call: OrganizationCall, object: string) => Promise<void>
}

/** `changeHash`: keyed hash under the key for changes. */
export function createTrail(note: NoteActivity, changeHash: (text: string) => string): Trail {
  return {
    note,
    sign(call) {
      const { person } = call.session
      const { requestId: request } = call
      return (subject, spec) =>
        changedByText({ subject, specDigest: specDigest(spec, sha256Hex), person, request }, changeHash)
    },
    async noteRemoval(call, object) {
      const { organization } = call.scope
      const { person } = call.session
      await note({
        organization: organization.id,
        website: '',
        type: 'object_removal',
        subject: object,
        actor: person,
        message: 'Removal requested in the dashboard.',
        logRetentionDays: organization.logRetentionDays,
      })
    },
  }
}
