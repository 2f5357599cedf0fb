/** The page that leads to a destination at each provider, from the guides that the dashboard shows. */

import type { GuideField } from '../../domain/providers/guide.ts'
import { PROVIDER_DESCRIPTORS, PROVIDER_IDS, type ProviderId } from '../../domain/providers/index.ts'
import { code, page, table } from './markdown.ts'

export function connectPage(): string {
  return page('Go live with a provider', 'domain/providers/', [
    "In the dashboard: **Resources**, Destinations, **Connect step by step**. Paste each value as you find it: space around it, quotes and hyphens of a number do no harm. **Try it** sends one marked test event, which counts nowhere, and shows the answer. **Connect** makes the destination in mode `Validate`; **Go live** lets installs count, which is an Admin's to do.",
    'As YAML: the fields are those of a [Destination](resources.md), the credentials keys of a Secret. What each provider gets, and until when: [deliveries](deliveries.md).',
    ...PROVIDER_IDS.flatMap(sectionOf),
  ])
}

function sectionOf(provider: ProviderId): readonly string[] {
  const { name, block, guide } = PROVIDER_DESCRIPTORS[provider]
  if (guide === undefined) return []
  const rows = [
    ...guide.settings.map((field) => valueRow(field, `Of the destination, ${code(`${block.field}.${field.name}`)}`)),
    ...guide.ways.flatMap(({ title, fields }) =>
      fields.map((field) =>
        valueRow(field, `Of the Secret, ${code(field.name)}${guide.ways.length > 1 ? `: ${title}` : ''}`),
      ),
    ),
  ]
  return [
    `## ${name}`,
    `Before: ${guide.before.join(' ')}`,
    table(['Value', 'Where it stands', 'Field'], rows),
    `Once it is live: ${guide.after.join(' ')}`,
  ]
}

function valueRow({ label, where, isOptional }: GuideField, field: string): readonly string[] {
  return [isOptional === true ? `${label} (optional)` : label, where, field]
}
