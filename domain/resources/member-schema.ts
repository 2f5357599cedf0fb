/** The kind Member: one object is an invitation at first, and then the membership. */

import { shapeOf, orAbsent, isFlag, isText, isOneOf } from '../guards.ts'
import type { JsonSchema } from '../schema/json-schema.ts'
import { LIMITS } from '../limits.ts'
import { ADDRESS_CHARS } from '../schema/mail-address.ts'
import { MEMBER_ROLES, type MemberRole } from '../model.ts'
import { NAME_CHAR, NAME_MEANING, organizationHere, utcTime } from './resource-fields.ts'

/** A checked spec. Exactly one of `email` and `group` is present. */
export interface MemberSpec {
  readonly installation?: string
  readonly tenant?: string
  readonly organizationRef: { readonly name: string }
  readonly email?: string
  readonly group?: string
  readonly role: MemberRole
  /** Absent: active. */
  readonly invitation?: InvitationSpec
  readonly mail?: MailSpec
}

interface MailSpec {
  /** Whether the person gets the weekly mail, unless they have ended it. */
  readonly weekly?: boolean
}

interface InvitationSpec {
  /** Random; a new one makes the link that was sent before void. */
  readonly id: string
  /** RFC 3339, UTC. */
  readonly expiresAt: string
}

/** Of a spec that was checked when it was stored, and may have been stored by another release. */
export const isMemberSpec = shapeOf<MemberSpec>({
  installation: orAbsent(isText),
  tenant: orAbsent(isText),
  organizationRef: shapeOf<MemberSpec['organizationRef']>({ name: isText }),
  email: orAbsent(isText),
  group: orAbsent(isText),
  role: isOneOf(MEMBER_ROLES),
  invitation: orAbsent(shapeOf<InvitationSpec>({ id: isText, expiresAt: isText })),
  mail: orAbsent(shapeOf<MailSpec>({ weekly: orAbsent(isFlag) })),
})

/** The outer form of an address; `domain/schema/mail-address.ts` has the rule. Lower case, so that one person is one text. `\x27` is the apostrophe, which the rules of definitions cannot quote. */
const EMAIL_PATTERN = String.raw`^[!#-&\x27*+./0-9=?^-~-]{1,64}@[a-z0-9-]+([.][a-z0-9-]+)+$`
export const INVITATION_ID_CHARS = 32

export const EMAIL_SCHEMA: JsonSchema = {
  type: 'string',
  description: 'Address of a person, who is a member as soon as the address is proven.',
  minLength: 3,
  maxLength: ADDRESS_CHARS,
  pattern: EMAIL_PATTERN,
  patternMeaning: 'must be an address in lower case such as anna@acme.dev, its domain in ASCII',
}

export const MEMBER_SCHEMA: JsonSchema = {
  type: 'object',
  description:
    'Who may do what in an organisation: a person by e-mail address, or a group of the identity provider. While it has an invitation, it gives no access.',
  required: ['organizationRef', 'role'],
  properties: {
    organizationRef: organizationHere,
    email: EMAIL_SCHEMA,
    group: {
      type: 'string',
      description: 'A group as the identity provider calls it; it counts as one member.',
      minLength: 1,
      maxLength: LIMITS.groupChars,
      pattern: `^${NAME_CHAR}+$`,
      patternMeaning: NAME_MEANING,
    },
    role: { type: 'string', description: 'What the member may do.', enum: MEMBER_ROLES },
    invitation: {
      type: 'object',
      description: 'Written by the dashboard alone. Leave it out if you write a Member by hand.',
      required: ['id', 'expiresAt'],
      properties: {
        id: {
          type: 'string',
          description: 'Identifies the one valid link.',
          minLength: INVITATION_ID_CHARS,
          maxLength: INVITATION_ID_CHARS,
          pattern: '^[0-9a-f]+$',
          patternMeaning: 'must be hexadecimal digits',
        },
        expiresAt: utcTime('When the link ends, in UTC, for example 2026-11-29T06:00:00Z.'),
      },
    },
    mail: {
      type: 'object',
      description: 'Which mails the person gets. A group gets none.',
      properties: {
        weekly: {
          type: 'boolean',
          description:
            'The numbers of the last week, on Monday at 9. Whoever ends it by the link in a mail gets none, whatever is written here, until they turn it on again in the dashboard.',
          default: false,
        },
      },
    },
  },
}

/** What must hold of a spec beyond its schema. The definition and the compiler show the first message. */
export const MEMBER_RULES = [
  { rule: 'has(self.email) != has(self.group)', message: 'must have either email or group, and not both' },
  { rule: '!has(self.group) || !has(self.invitation)', message: 'a group has no invitation' },
] as const
