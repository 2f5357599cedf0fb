/** Reports objects that belong to other installations. */

import type { Logger } from '../../runtime/logger.ts'
import { kubeKey } from '../../runtime/kube/objects.ts'
import type { ForeignObject } from '../gather/ownership.ts'
import type { createEvents } from './events.ts'

interface ForeignOptions {
  readonly installation: string
  readonly logger: Logger
  readonly tell: ReturnType<typeof createEvents>['tell']
}

/** Each is reported once, and never in its status, which belongs to the other installation. */
export function createForeignReport({ installation: own, logger, tell }: ForeignOptions) {
  /** The last reported owner of each object. */
  const told = new Map<string, string>()
  return (foreign: readonly ForeignObject[]): void => {
    for (const { kind, object, installation } of foreign) {
      const key = `${kind} ${object.metadata.uid ?? kubeKey(object)}`
      if (told.get(key) === installation) continue
      told.set(key, installation)
      logger.info(
        { kind, object: kubeKey(object), installation, own },
        'left alone, it belongs to another installation',
      )
      const message = `it belongs to the installation ${installation}, and ${own} leaves it alone; spec.installation decides`
      tell(kind, object, { type: 'Warning', reason: 'OtherInstallation', message })
    }
  }
}
