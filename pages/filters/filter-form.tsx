/** Makes or changes a filter: what it is about, the operator, and values, of which those of the period are offered. */

import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef, useState, type ReactNode } from 'react'

import {
  FILTER_OPERATORS,
  OPERATOR_WORDS,
  type FigureFilter,
  type FilterOperator,
} from '../../domain/figures/filters.ts'
import type { InstallDimension } from '../../domain/figures/installs.ts'
import { LIMITS } from '../../domain/limits.ts'
import { suggestionsQuery, type SuggestionPeriod } from '../data/figures.ts'
import { shownCount } from '../parts/numbers.tsx'
import { DIMENSION_NAMES, valueWord } from './filter-words.ts'

interface FilterFormProps {
  readonly organization: string
  readonly dimensions: readonly InstallDimension[]
  /** The filter to be changed; null makes a new one. */
  readonly first: FigureFilter | null
  readonly period: SuggestionPeriod
  readonly onApply: (filter: FigureFilter) => void
  readonly onCancel: () => void
}

const MOST_OFFERED = 8

export function FilterForm({ organization, dimensions, first, period, onApply, onCancel }: FilterFormProps): ReactNode {
  const [dimension, setDimension] = useState(first?.dimension ?? dimensions[0] ?? 'source')
  const [op, setOp] = useState<FilterOperator>(first?.op ?? 'is')
  const [values, setValues] = useState<readonly string[]>(first?.values ?? [])
  const [typed, setTyped] = useState('')
  const form = useRef<HTMLFormElement>(null)
  useEffect(() => form.current?.querySelector('select')?.focus(), [])
  const own = typed.trim()
  const all = own === '' ? values : [...new Set([...values, own])]
  const chosen = op === 'contains' ? all.filter((value) => value !== '') : all
  return (
    <form
      ref={form}
      className="filter-form card"
      aria-label="Filter"
      onSubmit={(event) => {
        event.preventDefault()
        if (chosen.length > 0) onApply({ dimension, op, values: chosen.slice(0, LIMITS.figureFilterValues) })
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        onCancel()
      }}
    >
      <label>
        Filter by
        <select
          value={dimension}
          onChange={({ target }) => {
            setDimension(dimensions.find((each) => each === target.value) ?? dimension)
            setValues([])
          }}
        >
          {dimensions.map((each) => (
            <option key={each} value={each}>
              {DIMENSION_NAMES[each]}
            </option>
          ))}
        </select>
      </label>
      <label>
        Operator
        <select
          value={op}
          onChange={({ target }) => setOp(FILTER_OPERATORS.find((each) => each === target.value) ?? op)}
        >
          {FILTER_OPERATORS.map((each) => (
            <option key={each} value={each}>
              {OPERATOR_WORDS[each]}
            </option>
          ))}
        </select>
      </label>
      <label className="value">
        Value
        <input
          value={typed}
          maxLength={LIMITS.figureFilterChars}
          autoComplete="off"
          spellCheck={false}
          onChange={({ target }) => setTyped(target.value)}
        />
      </label>
      <OfferedValues
        organization={organization}
        period={period}
        wanted={{ dimension, op, typed: own, values }}
        onChange={setValues}
      />
      <div className="actions">
        <Button type="submit" size="xs" disabled={chosen.length === 0}>
          Apply
        </Button>
        <Button size="xs" variant="default" onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </form>
  )
}

interface OfferedValuesProps {
  readonly organization: string
  readonly period: SuggestionPeriod
  readonly wanted: FigureFilter & { readonly typed: string }
  readonly onChange: (values: readonly string[]) => void
}

interface Offered {
  readonly value: string
  /** Null: it has none in the period. */
  readonly installs: number | null
}

/** Those that are chosen, and of the period's those with the most installs that have what was typed in them. */
function OfferedValues({ organization, period, wanted, onChange }: OfferedValuesProps): ReactNode {
  const { dimension, op, typed, values } = wanted
  const { data = [], isPending } = useQuery(suggestionsQuery(organization, period, dimension))
  const isTyped = ({ value }: Offered): boolean =>
    valueWord(dimension, value).toLowerCase().includes(typed.toLowerCase())
  const offered = data.filter((each) => !values.includes(each.value) && (op !== 'contains' || each.value !== ''))
  const chosen = values.map((value): Offered => data.find((each) => each.value === value) ?? { value, installs: null })
  const rows = [...chosen, ...offered.filter(isTyped).slice(0, MOST_OFFERED)]
  return (
    <fieldset>
      <legend>{op === 'contains' ? 'Texts, and values of this time' : 'Values of this time'}</legend>
      {rows.length === 0 && <p className="question">{isPending ? 'Loading …' : 'None. Type one above.'}</p>}
      {rows.map(({ value, installs }) => {
        const isChosen = values.includes(value)
        return (
          <label key={value}>
            <input
              type="checkbox"
              checked={isChosen}
              onChange={() => onChange(isChosen ? values.filter((each) => each !== value) : [...values, value])}
            />
            {value === '' ? <i>{valueWord(dimension, value)}</i> : <span translate="no">{value}</span>}
            {installs !== null && (
              <small>
                {shownCount(installs)} <span className="unseen">installs</span>
              </small>
            )}
          </label>
        )
      })}
    </fieldset>
  )
}
