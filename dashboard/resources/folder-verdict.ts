/** Judges a change of the folder before it is written: the whole folder is compiled without the change and with it. */

import type { CatalogProblem } from '../../domain/catalog.ts'
import type { CompileMemory } from '../../domain/catalog/compile-catalog.ts'
import { judgeProblems } from '../../domain/catalog/judge-change.ts'
import { compareNames, ofAllFiles, type ManifestFile, type ParsedFile } from '../../runtime/catalog/manifests.ts'
import { compileParsed } from '../../runtime/catalog/source.ts'
import { fileOf } from './folder-inventory.ts'
import { ResourcesUnavailable, type ResourceAddress, type WriteOutcome } from './writer.ts'

export interface JudgingParts {
  readonly parse: (files: readonly ManifestFile[]) => readonly ParsedFile[]
  /** Of the folder as it was compiled last. */
  readonly memory: CompileMemory
  readonly nowMs: () => number
}

interface JudgedFolderChange {
  readonly object: ResourceAddress
  /** A file of the dashboard, as among the files. */
  readonly file: string
  /** Null: it is removed. */
  readonly text: string | null
}

/**
 * Null if it may be written. What it leaves out among other objects of the dashboard is no reason to refuse it. A problem of a
 * file that somebody else wrote is one: that file would block the whole folder.
 * @throws ResourcesUnavailable if one blocks the folder already
 */
export function refuseByFolder(
  files: readonly ManifestFile[],
  { object, file, text }: JudgedFolderChange,
  { parse, memory, nowMs }: JudgingParts,
): WriteOutcome | null {
  const compile = (all: readonly ManifestFile[]) => compileParsed(ofAllFiles(parse(all)), { nowMs: nowMs(), memory })
  const others = files.filter(({ name }) => name !== file)
  const changed = text === null ? [] : [{ name: file, text }]
  const present = compile(files)
  if (!present.isAccepted) throw new ResourcesUnavailable(WITHOUT_EFFECT)
  // By its name the file keeps its age.
  const next = compile([...others, ...changed].sort((a, b) => compareNames(a.name, b.name)))
  const { refusals } = judgeProblems(object, {
    before: present.problems,
    after: next.problems,
    asNew: () => compile([...others, ...changed]).problems,
  })
  const [own] = refusals
  if (own !== undefined) return refusedFor(own)
  const [blocking] = next.blocking
  return blocking === undefined ? null : neededBy(blocking)
}

export const WITHOUT_EFFECT =
  'a file in the folder of manifests keeps all changes from taking effect; the process log and `whencectl lint` name it'

function refusedFor({ reason, field, message, plan }: CatalogProblem): WriteOutcome {
  return { kind: 'refused', reason, field, message, ...(plan === undefined ? {} : { plan }) }
}

function neededBy({ source, field, object, message }: CatalogProblem): WriteOutcome {
  return { kind: 'managed_elsewhere', manager: fileOf(source), field, dependant: { object, message } }
}
