/** The closed set of reasons for which an object is refused, with what each means and what to do about it. */

import type { CatalogProblem } from '../catalog.ts'

interface ReasonRow {
  readonly meaning: string
  readonly fix: string
  /**
   * True: the text itself is wrong, so a folder with it changes nothing until it is mended. False: the object is left
   * out, and all others take effect.
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
    fix: 'Mend the line that is named; indent with spaces, and quote texts with special characters.',
    isBlocking: true,
  },
  UnknownKind: {
    meaning: 'The object says it is of our group, but kind or apiVersion is none that we have.',
    fix: 'Use apiVersion whence.dev/v1alpha1 and one of the five kinds, or v1 and Secret.',
    isBlocking: true,
  },
  UnknownField: {
    meaning:
      'A field is not part of this kind. In a cluster it is passed over with a warning: the definitions there know it, so they are newer than the operator.',
    fix: 'Correct the spelling, or take the field away; in a cluster, upgrade the service to the version of its definitions.',
    isBlocking: true,
  },
  MissingField: { meaning: 'A field that must be there is not.', fix: 'Add the field.', isBlocking: true },
  InvalidField: {
    meaning: 'A field is of the wrong type, out of range or not in its form.',
    fix: 'Write a value that the message allows.',
    isBlocking: true,
  },
  ProviderMismatch: {
    meaning: "A Destination has not exactly its provider's block.",
    fix: 'Keep the one block that belongs to spec.provider, and take the others away.',
    isBlocking: true,
  },
  DuplicateObject: {
    meaning: 'Two objects have the same kind, namespace and name.',
    fix: 'Rename one, or take it away.',
    isBlocking: true,
  },
  RefNotFound: {
    meaning: 'An object, or a key of a Secret, that is referred to does not exist.',
    fix: 'Correct the name, or add what is referred to.',
    isBlocking: true,
  },
  RefNotPermitted: {
    meaning: 'An object of another namespace is referred to, and does not allow that, or does not exist.',
    fix: 'Let its owner add your namespace to its spec.allowedNamespaces, or correct name and namespace.',
    isBlocking: false,
  },
  EnvNotSet: {
    meaning: 'A Secret takes a value from an environment variable that is not set.',
    fix: 'Set the variable for the process and start it again.',
    isBlocking: true,
  },
  SecretReserved: {
    meaning: 'The Secret that is referred to is the token of a ServiceAccount, or the service keeps it for itself.',
    fix: 'Put the credentials of the destination into a Secret of its own.',
    isBlocking: false,
  },
  LastAcceptedKept: {
    meaning:
      'More than half of all websites, and at least ten, turned from accepted to refused within ten minutes. Each of them stays in force as it was accepted last.',
    fix: 'Mend what made so many wrong, often a definition or a version. To let one go as refused, give its annotation whence.dev/reconcile-now a new value, or delete it.',
    isBlocking: false,
  },
  NamespaceUnreadable: {
    meaning:
      'The operator may no longer read the namespace. What was in force from it stays so, and no change is taken up.',
    fix: 'Give the operator its Role and RoleBinding in the namespace again.',
    isBlocking: false,
  },
  DefinitionsDiffer: {
    meaning:
      'The definitions in the cluster are of another version than the operator. Fields that it does not know are passed over.',
    fix: 'Bring definitions and service to one version.',
    isBlocking: false,
  },
  TooLarge: {
    meaning:
      'A value is too long, or the catalog has no room for the object beside those of other namespaces. Of a website whose list of pages is too long, the last pages alone are left out.',
    fix: 'Make it smaller; the message says what is too large, and what is allowed.',
    isBlocking: false,
  },
  RefNotAccepted: {
    meaning: 'The object that is referred to exists, but is itself refused.',
    fix: 'Mend that one; its own problem says how.',
    isBlocking: false,
  },
  IdTaken: {
    meaning: 'An older object has the same ID; the older one keeps it.',
    fix: 'Choose another spec.id; for a Destination, whose name is its ID, another name.',
    isBlocking: false,
  },
  OriginTaken: {
    meaning:
      'A website of another namespace has the same origin. Domains go before origins of pages, and then the older one; of a website with such a page, that page alone is left out.',
    fix: 'Take the origin or the page away, or move both websites to one namespace.',
    isBlocking: false,
  },
  PlanLimit: {
    meaning:
      "The organisation's plan has no room for one more; the older ones keep their place. Of a website with pages on too many origins, those pages alone are left out.",
    fix: 'Take an older one away, or choose a larger plan.',
    isBlocking: false,
  },
  PlanRequired: {
    meaning: "The organisation's plan allows none of these.",
    fix: 'Choose a larger plan.',
    isBlocking: false,
  },
} as const satisfies Record<string, ReasonRow>

export type ProblemReason = keyof typeof PROBLEM_REASONS

/** Whether a folder with this problem must not replace a catalog that works. A warning never stands in the way. */
export function isBlocking({ reason, isWarning }: Pick<CatalogProblem, 'reason' | 'isWarning'>): boolean {
  if (isWarning === true) return false
  const rows: Readonly<Record<string, ReasonRow>> = PROBLEM_REASONS
  return rows[reason]?.isBlocking ?? true
}

/** Whether an object with these problems is in force as far as it alone can tell. */
export function areWarnings(problems: readonly CatalogProblem[]): boolean {
  return problems.every(({ isWarning }) => isWarning === true)
}
