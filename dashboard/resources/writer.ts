/** Port: writes single custom resources, each only if it is as the caller last saw it. */

import { Outage } from '../../common/outage.ts'
import type { OwnedField } from '../../domain/resources/field-owners.ts'
import type { Plan } from '../../domain/model.ts'
import type { PlanUse } from '../../domain/plan.ts'

export interface ResourceAddress {
  readonly kind: string
  readonly namespace: string
  readonly name: string
}

export interface WrittenObject extends ResourceAddress {
  readonly spec: Readonly<Record<string, unknown>>
}

/** The stored object, as it is read before a change. */
export interface StoredObject extends WrittenObject {
  /** Another one after each change of the spec. */
  readonly version: string
  /** Who manages it, if that is not the dashboard: a file, or the first manager of its fields. */
  readonly managedBy: string | null
  /** Fields that cannot be changed here, with their managers; what a person set by hand is not among them. */
  readonly readOnly: readonly OwnedField[]
}

export type WriteOutcome =
  | { readonly kind: 'written' }
  /** A dry run: it could be written, and the spec would be this one. */
  | { readonly kind: 'fits'; readonly spec: Readonly<Record<string, unknown>> }
  /** It is not as it was when the version was read, or (for a new one) there is one already. */
  | { readonly kind: 'conflict' }
  /** `field` is empty if it is the whole object. With a dependant, manager and field are those of that object. */
  | {
      readonly kind: 'managed_elsewhere'
      readonly manager: string
      readonly field: string
      readonly dependant?: DependantObject
    }
  /** The compiler or the API server would refuse it; `reason` as in conditions. */
  | {
      readonly kind: 'refused'
      readonly reason: string
      readonly field: string
      readonly message: string
      readonly plan?: PlanUse
    }

/** An object of another manager that would no longer compile, such as `Organization/acme`, and why. */
interface DependantObject {
  readonly object: string
  readonly message: string
}

/** What is written now would take no effect, or nothing can be read: nothing is promised, and the request may be repeated. */
export class ResourcesUnavailable extends Outage {
  override readonly name = 'ResourcesUnavailable'
}

export interface WriteManner {
  /** Nothing is stored. */
  readonly isDryRun?: boolean
  /** Whether fields that a person set by hand may be changed; they may if nothing is said. */
  readonly mayTakeOver?: boolean
  /** The annotation that says who changed it; `subject` is the object's UID, or the place of a new one. */
  readonly sign?: (subject: string, spec: Readonly<Record<string, unknown>>) => string
  /**
   * Another object on which the decision rests: this one is written only while that one is as it was read; otherwise the outcome is a
   * conflict. Of changes at once that rely on each other's objects at most one is written.
   */
  readonly reliesOn?: StoredObject
  /** What takes effect even while files of others keep every other change of a folder from it. */
  readonly isRepair?: boolean
}

/** What a reference names. Nobody can read its values here. */
export interface WrittenSecret {
  readonly namespace: string
  readonly name: string
  readonly values: Readonly<Record<string, string>>
  readonly tenant: string | null
  /** The object that it goes with; null if that does not exist yet. */
  readonly owner: ResourceAddress | null
  /** Absent: it counts for nobody, and there may be any number. */
  readonly room?: SecretRoom
}

/** How many Secrets the organisation of a new one may have. */
export interface SecretRoom {
  /** ID of the organisation. */
  readonly organization: string
  readonly allowed: number
}

/** There are as many Secrets as there may be. */
interface NoSecretRoom {
  readonly kind: 'full'
  readonly used: number
}

/** The fields of an Organization that only payments may change through the dashboard. */
export interface BillingFields {
  readonly plan: Plan
  /** Undefined: the field is removed. */
  readonly billing: { readonly customer: string; readonly subscription?: string; readonly price?: string } | undefined
  /** Only if the plan allows no more. */
  readonly logRetentionDays?: number
}

/** Reads an object as it is stored. */
export interface ResourceReader {
  readonly read: (ref: ResourceAddress, manner?: { readonly isRepair?: boolean }) => Promise<StoredObject | null>
}

/**
 * An outcome says what is stored: `written` is on disk, and the directory shows it within a second. What others refer to may be
 * removed: they stay, out of force. Reads and writes reject with `ResourcesUnavailable`.
 */
export interface ResourceWriter extends ResourceReader {
  readonly create: (object: WrittenObject, manner?: WriteManner) => Promise<WriteOutcome>
  /** Of any number that were given one version exactly one is written. */
  readonly replace: (object: WrittenObject, version: string, manner?: WriteManner) => Promise<WriteOutcome>
  readonly remove: (ref: ResourceAddress, version: string, manner?: WriteManner) => Promise<WriteOutcome>
  /** These fields and no others, of an Organization that is as it was read; whatever they leave out, and whenever that takes effect. */
  readonly writeBilling: (stored: StoredObject, fields: BillingFields) => Promise<WriteOutcome>
  /**
   * Only makes new ones: no Secret is ever read, changed or removed. A folder counts those that are there; in a cluster, where they cannot be
   * listed, those of a day count, after which the ones that nothing refers to are deleted.
   */
  readonly createSecret: (secret: WrittenSecret) => Promise<WriteOutcome | NoSecretRoom>
}

export function placeOf({ kind, namespace, name }: ResourceAddress): string {
  return `${kind}/${namespace}/${name}`
}
