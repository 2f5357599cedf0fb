/** The one table of roles: what each may do. Checks, docs and pages are made from it. */

import { MEMBER_ROLES, type MemberRole } from '../model.ts'

/** The lowest role that may do each thing. Every role may do what the roles below it may. */
export const ROLE_ACTIONS = {
  read: { least: 'Viewer', what: 'see everything but secrets and the addresses of members' },
  leave: { least: 'Viewer', what: 'leave the organisation' },
  askSupport: { least: 'Viewer', what: 'ask for support' },
  readAddresses: { least: 'Member', what: 'see the addresses of members' },
  writeContent: { least: 'Member', what: 'change pages, install paths and destinations that only validate' },
  writeConfiguration: {
    least: 'Admin',
    what: 'change websites, all destinations, log streams, webhooks and the organisation, except its plan',
  },
  importSpend: { least: 'Admin', what: 'import ad spend and remove imports' },
  removeOrganization: { least: 'Owner', what: 'remove the organisation' },
  inviteMembers: { least: 'Admin', what: 'invite, change and remove members who are not owners' },
  manageKeys: { least: 'Admin', what: 'make and revoke API keys' },
  manageLinks: { least: 'Admin', what: 'share a report by a link, and revoke the link' },
  manageBilling: { least: 'Owner', what: 'pay for a plan' },
  manageOwners: { least: 'Owner', what: 'make, change and remove owners' },
} as const satisfies Record<string, { readonly least: MemberRole; readonly what: string }>

type RoleAction = keyof typeof ROLE_ACTIONS

/** Whether this role includes the other; null is no role at all. */
export function isAtLeast(role: MemberRole | null, least: MemberRole): boolean {
  return role !== null && MEMBER_ROLES.indexOf(role) <= MEMBER_ROLES.indexOf(least)
}

export function mayDo(role: MemberRole | null, action: RoleAction): boolean {
  return isAtLeast(role, ROLE_ACTIONS[action].least)
}

/** The role with more rights. */
export function higherRole(a: MemberRole | null, b: MemberRole): MemberRole {
  return a !== null && isAtLeast(a, b) ? a : b
}
