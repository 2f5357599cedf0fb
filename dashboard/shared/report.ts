/** What a share link shows: the numbers of the Overview, read by the same functions, and nothing that names a visit, an install or an object. */

import type { SHARE_ROUTES } from '../api/links.ts'
import { figurePage, type FigureParts, type OrganizationSource } from '../figures/pages.ts'
import type { FiguresQuestion } from '../figures/asked-period.ts'
import { answer, type CallTo, type HandlersOf } from '../http/call.ts'
import { overviewFigures } from '../overview/overview.ts'

export function sharedReportHandlers(parts: FigureParts) {
  const figures = figurePage(parts, sharedOverview)
  return {
    sharedFigures: async (call: CallTo<'sharedFigures'>) => {
      const outcome = await figures(call)
      if (outcome.kind === 'refused') return outcome
      const { website, ...numbers } = outcome.body
      const { title, period, filter } = call.query
      return answer({ title, website, period, filter, figures: numbers })
    },
  } satisfies Partial<HandlersOf<typeof SHARE_ROUTES>>
}

async function sharedOverview(source: OrganizationSource, question: FiguresQuestion) {
  const figures = await overviewFigures(source, question)
  return {
    ...figures,
    // The others name destinations and websites.
    annotations: figures.annotations.filter(({ kind }) => kind === 'version'),
    website: source.reads.websites[0]?.displayName ?? '',
  }
}
