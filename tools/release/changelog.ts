/** Reads CHANGELOG.md, which has the form of Keep a Changelog. */

/** The kinds of changes, in their order. */
const KINDS = ['Added', 'Changed', 'Deprecated', 'Removed', 'Fixed', 'Security'] as const

interface ReleaseEntry {
  /** `Unreleased` or a version. */
  readonly name: string
  /** Null for unreleased changes. */
  readonly date: string | null
  /** Everything below the heading. */
  readonly text: string
}

/** Newest first, as in the file. */
export function entriesOf(changelog: string): readonly ReleaseEntry[] {
  return changelog
    .split(/^## /m)
    .slice(1)
    .map((part) => {
      const [heading = '', ...lines] = part.split('\n')
      const [, name = heading, date = null] = /^\[([^\]]+)\](?: - (\d{4}-\d{2}-\d{2}))?$/.exec(heading) ?? []
      return { name, date, text: lines.join('\n').trim() }
    })
}

/** Deviations from Keep a Changelog, in words. */
export function changelogProblems(changelog: string): readonly string[] {
  const entries = entriesOf(changelog)
  const dated = entries.slice(1)
  return [
    ...(changelog.startsWith('# Changelog\n') ? [] : ['the title is not "# Changelog"']),
    ...(entries[0]?.name === 'Unreleased' ? [] : ['the first entry is not [Unreleased]']),
    ...dated.flatMap(({ name, date }) => [
      ...(/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(name) ? [] : [`${name} is not a version`]),
      ...(date === null ? [`${name} has no date`] : []),
    ]),
    ...dated.flatMap(({ date }, index) =>
      (dated[index - 1]?.date ?? '9') >= (date ?? '') ? [] : [`${date} is not in order`],
    ),
    ...entries.flatMap(entryProblems),
  ]
}

function entryProblems({ name, text }: ReleaseEntry): readonly string[] {
  const parts = text.split(/^### /m)
  const kinds = parts.slice(1).map((part) => part.split('\n')[0] ?? '')
  const known = KINDS.filter((kind) => kinds.includes(kind))
  return [
    ...(parts[0]?.trim() === '' ? [] : [`${name} has changes without a kind`]),
    ...(kinds.join() === known.join()
      ? []
      : [`${name} has the kinds ${kinds.join(', ')}; they are ${KINDS.join(', ')}, in this order`]),
    ...parts.slice(1).flatMap((part, index) => (/^- /m.test(part) ? [] : [`${kinds[index]} of ${name} is empty`])),
  ]
}

/** Notes of a release: its own entry, or what is not released yet. */
export function releaseNotes(changelog: string, version: string): string {
  const entries = entriesOf(changelog)
  const entry = entries.find(({ name }) => name === version) ?? entries[0]
  if (entry === undefined) throw new Error('CHANGELOG.md has no entries')
  return `${entry.text}\n`
}
