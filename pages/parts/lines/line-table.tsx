/** Lines of Logs as a table, in plain markup: 200 rows of components would cost a quarter of a second. */

import type { ReactNode } from 'react'

import type { LogLine } from '../../../domain/logs/line.ts'
import { TableHead } from '../table-head.tsx'
import { Clock } from '../time.tsx'

interface LineTableProps {
  readonly lines: readonly LogLine[]
  readonly selected: string | null
  readonly onSelect: (line: LogLine) => void
}

export function LineTable({ lines, selected, onSelect }: LineTableProps): ReactNode {
  return (
    <div className="wide">
      <table className="list lines">
        <TableHead columns={['Time', 'What', 'Request', 'Website', 'Status', { number: 'ms' }]} />
        <tbody>
          {lines.map((line) => (
            <tr key={line.id} data-selected={line.id === selected || undefined}>
              <td>
                <button type="button" className="link row" onClick={() => onSelect(line)}>
                  <Clock ms={line.at} />
                </button>
              </td>
              <td>{lineKind(line.kind)}</td>
              <td className="path" translate="no">
                <Asked line={line} />
              </td>
              <td translate="no">{line.website}</td>
              <td>
                <Status status={line.status} code={line.code} />
              </td>
              <td className="number">{line.durationMs}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

/** On a phone the method is left out: the kind of request follows from the path. */
function Asked({ line: { direction, destination, method, path } }: { readonly line: LogLine }): ReactNode {
  if (direction === 'outbound') return destination ?? path
  return (
    <>
      <span className="method">{method} </span>
      {path}
    </>
  )
}

const KINDS: Readonly<Record<string, string>> = {
  visit: 'Visit',
  activation: 'Activation',
  handoff: 'Token of a command',
  install: 'Install',
  delivery: 'Delivery',
  request: 'Request',
  dashboard: 'Dashboard',
}

/** What kind of line it is, in a word or two. */
export function lineKind(kind: string): string {
  return KINDS[kind] ?? kind
}

/** With the number and the code as text: colour alone is not enough. */
export function Status({ status, code }: { readonly status: number; readonly code: string }): ReactNode {
  const tone = status >= 200 && status < 300 ? 'good' : status >= 300 && status < 400 ? 'plain' : 'bad'
  return (
    <span className={`status ${tone}`}>
      {status === 0 ? 'no answer' : status}
      {code !== '' && code !== 'ok' && <span className="code"> {code}</span>}
    </span>
  )
}
