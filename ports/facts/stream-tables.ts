/** The columns of the tables behind log streams: what is still to be sent, and how far each stream is. */

export const STREAM_TABLES = {
  stream_pointers: {
    columns: {
      organization: 'text',
      lane: 'text',
      last_offset: 'uint64',
      first_offset: 'uint64',
      appended_at: 'time',
      website: 'text',
      kind: 'text',
      status: 'uint16',
      ids: 'text',
      offsets: 'uint64s',
      oldest_at: 'time',
      times: 'uint64s',
      sizes: 'uint64s',
      row_version: 'uint64',
    },
    partitionedBy: { column: 'appended_at', span: 'day' },
  },
  stream_progress: {
    columns: {
      organization: 'text',
      stream: 'text',
      seen_at: 'time',
      state: 'text',
      behind: 'uint64',
      oldest_at: 'nullable time',
      delivered_at: 'nullable time',
      failing_since: 'nullable time',
      last_error: 'text',
      delivered: 'uint64',
      dropped: 'uint64',
      progress: 'text',
      row_version: 'uint64',
    },
    partitionedBy: null,
  },
} as const
