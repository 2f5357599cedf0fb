/** Routes of downloads: Logs, visits, installs and deliveries, streamed; nothing is stored of them. */

import { Type } from 'typebox'

import { LIMITS, RATE_RULES } from '../../domain/limits.ts'
import { oneOf } from '../../runtime/http/shapes.ts'
import { DELIVERY_LIST_QUERY, INSTALL_LIST_QUERY } from './installs.ts'
import { LOG_LIST_QUERY } from './logs.ts'
import type { RouteRow } from './route.ts'
import { CURSOR_PARAMETER } from './shapes.ts'
import { VISIT_LIST_QUERY } from './visits.ts'

const ORGANIZATION = '/api/organizations/:organization'
const MOST_ROWS = LIMITS.csvExportEvents.toLocaleString('en')
const EXCEL = Type.Boolean({ description: 'Begin with the mark that some spreadsheets need.' })
const CSV = ['text/csv; charset=utf-8'] as const

export const EXPORT_ROUTES = {
  logExport: {
    method: 'GET',
    path: `${ORGANIZATION}/logs/export`,
    needs: 'Member',
    rate: 'read',
    rank: 'export',
    summary: `Logs as a download, newest first: ${LIMITS.logExportRecords.toLocaleString('en')} records or 25 MB, ${RATE_RULES.log_exports.limit} an hour.`,
    query: {
      ...LOG_LIST_QUERY,
      cursor: CURSOR_PARAMETER,
      format: oneOf(['ndjson', 'text'], 'Lines of JSON, or of text.'),
    },
    answers: { 200: ['application/x-ndjson', 'text/plain; charset=utf-8'] },
  },
  installExport: {
    method: 'GET',
    path: `${ORGANIZATION}/installs/export`,
    needs: 'Member',
    rate: 'read',
    rank: 'export',
    summary: `Installs as CSV, the ${MOST_ROWS} most recent.`,
    query: { ...INSTALL_LIST_QUERY, excel: EXCEL },
    answers: { 200: CSV },
  },
  visitExport: {
    method: 'GET',
    path: `${ORGANIZATION}/visits/export`,
    needs: 'Member',
    rate: 'read',
    rank: 'export',
    summary: `Visits with the steps that each has reached as CSV, the ${MOST_ROWS} most recent.`,
    query: { ...VISIT_LIST_QUERY, excel: EXCEL },
    answers: { 200: CSV },
  },
  deliveryExport: {
    method: 'GET',
    path: `${ORGANIZATION}/deliveries/export`,
    needs: 'Member',
    rate: 'read',
    rank: 'export',
    summary: `Deliveries with the answer to the last attempt of each as CSV, the ${MOST_ROWS} that changed last.`,
    query: { ...DELIVERY_LIST_QUERY, excel: EXCEL },
    answers: { 200: CSV },
  },
} as const satisfies Record<string, RouteRow>
