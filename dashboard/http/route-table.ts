/** Finds the route of a request: among those with as many segments as its path has, each segment of which is decoded once. */

import { matchPath, segmentsOf } from './route.ts'
import type { RouteRow } from '../api/route.ts'

export type RouteMatch<Route> =
  | { readonly route: Route; readonly params: Readonly<Record<string, string>> }
  /** The methods of the path. */
  | { readonly allow: string }
  | { readonly unknown: true }

/** A path with more segments than any route is unknown; no more of it is divided. */
export function createRouteTable<Route extends { readonly row: RouteRow }>(
  routes: readonly Route[],
): (method: string | undefined, path: string) => RouteMatch<Route> {
  const byLength = Map.groupBy(routes, ({ row }) => row.path.split('/').length)
  const most = Math.max(0, ...byLength.keys())
  return (asked, path) => {
    const segments = segmentsOf(path, most + 1)
    const here = (byLength.get(segments.length) ?? []).flatMap((route) => {
      const params = matchPath(route.row.path, segments)
      return params === null ? [] : [{ route, params }]
    })
    const method = asked === 'HEAD' ? 'GET' : asked
    const found = here.find(({ route }) => route.row.method === method)
    if (found !== undefined) return found
    if (here.length === 0) return { unknown: true }
    const methods = here.map(({ route }) => route.row.method)
    return { allow: [...methods, ...(methods.includes('GET') ? ['HEAD'] : [])].join(', ') }
  }
}
