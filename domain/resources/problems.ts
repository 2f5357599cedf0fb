/** The closed set of reasons for refusing an object, with the meaning and the fix of each. */

import type { CatalogProblem } from '../catalog.ts'
import { RESOURCE_API_VERSION, RESOURCE_KINDS } from './resources.ts'

interface ProblemReasonRow {
  readonly meaning: string
  readonly fix: string
  /**
   * True: the object itself is wrong, so a folder that contains it changes nothing until it is fixed, unless the dashboard wrote
   * it. False: only the object is left out, and all others take effect.
   */
  readonly isBlocking: boolean
}

export const PROBLEM_REASONS = {
  FolderUnreadable: {
    meaning: 'The folder of manifests, or a file in it, cannot be read.',
    fix: 'Check the path, its permissions, and that files are UTF-8 and of ordinary size.',
    isBlocking: true,
  },
  InvalidYaml: {
    meaning: 'The file is not YAML, or a document in it is not a map.',
    fix: 'Fix the line in the message; indent with spaces, and quote texts with special characters.',
    isBlocking: true,
  },
  UnknownKind: {
    meaning: 'The object names the group whence.dev, but its kind or apiVersion does not exist.',
    fix: `Use apiVersion ${RESOURCE_API_VERSION} and one of ${RESOURCE_KINDS.join(', ')}, or v1 and Secret.`,
    isBlocking: true,
  },
  UnknownField: {
    meaning:
      'A field is not part of this kind. In a cluster it is ignored with a warning: the definitions there know it, so they are newer than the operator.',
    fix: 'Correct the spelling, or remove the field; in a cluster, upgrade the service to the version of its definitions.',
    isBlocking: true,
  },
  MissingField: { meaning: 'A required field is missing.', fix: 'Add the field.', isBlocking: true },
  InvalidField: {
    meaning: 'A field has the wrong type, range or form.',
    fix: 'Write a value that the message allows.',
    isBlocking: true,
  },
  ProviderMismatch: {
    meaning: "A Destination does not have exactly its provider's block.",
    fix: 'Keep the one block that belongs to spec.provider, and remove the others.',
    isBlocking: true,
  },
  DuplicateObject: {
    meaning: 'Two objects have the same kind, namespace and name.',
    fix: 'Rename or remove one of them.',
    isBlocking: true,
  },
  RefNotFound: {
    meaning: 'It refers to an object, or a key of a Secret, that does not exist.',
    fix: 'Correct the name, or add the missing object or key.',
    isBlocking: true,
  },
  RefNotPermitted: {
    meaning: 'It refers to an object of another namespace that does not allow this, or does not exist.',
    fix: 'Let its owner add your namespace to its spec.allowedNamespaces, or correct name and namespace.',
    isBlocking: false,
  },
  EnvNotSet: {
    meaning: 'A Secret takes a value from an environment variable that is not set.',
    fix: 'Set the variable for the process and restart it.',
    isBlocking: true,
  },
  SecretReserved: {
    meaning:
      'It refers to a Secret that is reserved for the service itself, or by its type for something else: the token of a ServiceAccount, the key of a certificate, a release of Helm, or for pulling images.',
    fix: 'Put the credentials of the destination into a Secret of its own.',
    isBlocking: false,
  },
  LastAcceptedKept: {
    meaning:
      'More than half of all websites, and at least ten, turned from accepted to refused within ten minutes. Each of them stays in force in its last accepted form.',
    fix: 'Fix the cause, often a definition or a version. To let one be refused after all, give its annotation whence.dev/reconcile-now a new value, or delete it.',
    isBlocking: false,
  },
  NamespaceUnreadable: {
    meaning:
      'The operator may no longer read the namespace. What was in force from it stays in force, and changes have no effect.',
    fix: 'Give the operator its Role and RoleBinding in the namespace again.',
    isBlocking: false,
  },
  DefinitionsDiffer: {
    meaning:
      'The definitions in the cluster have another version than the operator. Fields that the operator does not know are ignored.',
    fix: 'Upgrade the definitions and the service to the same version.',
    isBlocking: false,
  },
  TooLarge: {
    meaning:
      "A value is too long, or the catalog or the operator's memory has no room for the object beside those of other namespaces. If a website's list of pages is too long, only the last pages are left out.",
    fix: 'Make it smaller, or others of its namespace smaller or fewer; the message names what is too large.',
    isBlocking: false,
  },
  RefNotAccepted: {
    meaning: 'It refers to an object that exists, but is itself refused.',
    fix: 'Fix that object; its own problem shows how.',
    isBlocking: false,
  },
  IdTaken: {
    meaning: 'An older object has the same ID; the older one keeps it.',
    fix: 'Choose another spec.id; for a Destination, whose name is its ID, another name.',
    isBlocking: false,
  },
  OriginTaken: {
    meaning:
      'A website of another namespace or tenant has the same origin. Domains take precedence over origins of pages, then the older website over the newer; only a page in conflict is left out, not its website.',
    fix: 'Remove the origin or the page, or move both websites to one namespace.',
    isBlocking: false,
  },
  PlanLimit: {
    meaning:
      "The organisation's plan has no room for one more; older objects keep their place; among members the oldest Owner comes first. If a website has pages on too many origins, only those pages are left out.",
    fix: 'Remove an older one, or set a larger plan in the Organization.',
    isBlocking: false,
  },
  Duplicate: {
    meaning:
      'An older Member of the organisation names the same person or group, or an older ApiKey or ShareLink has the same key or token; the older one counts.',
    fix: 'Change the older one, or remove one of the two; make another key or link in place of the second one.',
    isBlocking: false,
  },
  TooMany: {
    meaning: 'The organisation has as many of these as any organisation may have; older objects keep their place.',
    fix: 'Remove an older one.',
    isBlocking: false,
  },
  Expired: {
    meaning: 'The ApiKey or ShareLink has ended; nothing can be read with it any more.',
    fix: 'Remove it, and make another one.',
    isBlocking: false,
  },
  PersonLimit: {
    meaning: 'The person owns, or belongs to, as many organisations as any person may.',
    fix: 'Remove one of the memberships of that person; the limit cannot be raised.',
    isBlocking: false,
  },
  NoOwner: {
    meaning: 'The organisation has members, and none of them is a person with the role Owner: a warning.',
    fix: 'Give one person the role Owner.',
    isBlocking: false,
  },
  PlanRequired: {
    meaning: "The organisation's plan allows none of these.",
    fix: 'Set a larger plan in the Organization.',
    isBlocking: false,
  },
} as const satisfies Record<string, ProblemReasonRow>

export type ProblemReason = keyof typeof PROBLEM_REASONS

/** Whether a folder with this problem must not replace a working catalog. A warning never prevents that. */
export function isBlocking({ reason, isWarning }: Pick<CatalogProblem, 'reason' | 'isWarning'>): boolean {
  if (isWarning === true) return false
  const rows: Readonly<Record<string, ProblemReasonRow>> = PROBLEM_REASONS
  return rows[reason]?.isBlocking ?? true
}

/** Whether these problems still leave the object in force. */
export function areWarnings(problems: readonly CatalogProblem[]): boolean {
  return problems.every(({ isWarning }) => isWarning === true)
}
