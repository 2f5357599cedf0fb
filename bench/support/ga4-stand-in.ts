/** Answers every request like GA4 without reading it, so that it costs the machine as little as possible. */

import { createServer } from 'node:http'

const server = createServer((request, response) => {
  request.resume().on('end', () => response.writeHead(204).end())
})
server.listen(Number(process.argv[2]), '127.0.0.1')
